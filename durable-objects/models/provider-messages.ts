/**
 * The one place where the transcript becomes what a provider is sent.
 *
 * Source: contract RUNTIME 9 ("An empty tool result is sent as `(empty)`").
 */
import type { Message } from "@earendil-works/pi-ai";
import { omitImages } from "./omit-images.ts";

export const EMPTY_RESULT_TEXT = "(empty)";

function isEmpty(message: Extract<Message, { role: "toolResult" }>): boolean {
  return message.content.every((part) => part.type === "text" && part.text === "");
}

/**
 * Providers refuse an empty tool result; the record keeps the text as it was.
 *
 * @param takesImages whether the model does, by its catalogue.
 */
export function toProviderMessages(messages: readonly Message[], takesImages = true): Message[] {
  return messages.map((message) => {
    if (message.role === "toolResult" && isEmpty(message)) {
      return { ...message, content: [{ type: "text", text: EMPTY_RESULT_TEXT }] };
    }
    return message.role === "user" && !takesImages ? omitImages(message) : message;
  });
}
