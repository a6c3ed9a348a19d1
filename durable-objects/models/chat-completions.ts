/** Models behind the chat-completions protocol, which OpenAI, Workers AI and most gateways and local servers speak. */
import type { Model } from "@earendil-works/pi-ai";
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
