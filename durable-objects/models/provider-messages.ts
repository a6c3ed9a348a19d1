/**
 * The one place where the transcript becomes what a provider is sent.
 *
 * Source: contract RUNTIME 9 ("An empty tool result is sent as `(empty)`").
 */
import type { Message } from "@earendil-works/pi-ai";

export const EMPTY_RESULT_TEXT = "(empty)";

function isEmpty(message: Extract<Message, { role: "toolResult" }>): boolean {
  return message.content.every((part) => part.type === "text" && part.text === "");
}

/** Providers refuse an empty tool result; the record keeps the text as it was. */
export function toProviderMessages(messages: readonly Message[]): Message[] {
  return messages.map((message) =>
    message.role === "toolResult" && isEmpty(message)
      ? { ...message, content: [{ type: "text", text: EMPTY_RESULT_TEXT }] }
      : message,
  );
}
