/** Models behind the chat-completions protocol, which OpenAI, Workers AI and most gateways and local servers speak. */
import type { Message, Model } from "@earendil-works/pi-ai";
import type { Settings } from "../protocol/settings.ts";

export type ChatCompletionsModel = Model<"openai-completions">;

export interface ChatCompletionsSource {
  id: string;
  provider: string;
  baseUrl: string;
  settings: Settings;
}

/** A model no catalogue knows: no prices, the limits of the settings. */
export function unknownChatModel({ id, provider, baseUrl, settings }: ChatCompletionsSource): ChatCompletionsModel {
  return {
    id,
    name: id,
    api: "openai-completions",
    provider,
    baseUrl,
    reasoning: false,
    input: ["text", "image"],
    cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
    contextWindow: settings.contextWindow,
    maxTokens: settings.maxTokens,
  };
}

/** What pi sends in the place of a blank result. */
const BLANK_STAND_IN = "(no tool output)";

/** A result of blanks alone (a file that holds one line break) is sent as it is: only an empty one has a stand-in. */
export function keepBlankResults(payload: unknown, messages: readonly Message[]): unknown {
  const results = new Map(
    messages.flatMap((message) =>
      message.role === "toolResult"
        ? [[message.toolCallId, message.content.map((part) => (part.type === "text" ? part.text : "")).join("\n")]]
        : [],
    ),
  );
  // The payload is pi's, made a moment ago for this protocol.
  const { messages: sent } = payload as { messages: { role: string; content: unknown; tool_call_id?: string }[] };
  for (const message of sent) {
    if (message.role === "tool" && message.content === BLANK_STAND_IN) {
      message.content = results.get(message.tool_call_id ?? "") || BLANK_STAND_IN;
    }
  }
  return payload;
}
