/** `openai/<model>`: OpenAI over chat completions, or a gateway that speaks it (`OPENAI_BASE_URL`). */
import type { Api, Model } from "@earendil-works/pi-ai";
import { openAICompletionsApi } from "@earendil-works/pi-ai/api/openai-completions.lazy";
import { OPENAI_MODELS } from "@earendil-works/pi-ai/providers/openai.models";
import { type ChatCompletionsModel, keepBlankResults, unknownChatModel } from "./chat-completions.ts";
import { createChatChunkMender } from "./mend-chat-chunks.ts";
import type { ModelProvider } from "./model.ts";
import { createProviderStream } from "./provider-stream.ts";

const CATALOGUE: ReadonlyMap<string, Model<Api>> = new Map(Object.entries(OPENAI_MODELS));
const BASE_URL = "https://api.openai.com/v1";

/** The catalogue describes the same model for another API of OpenAI's: limits and prices hold, its quirks do not. */
function overChatCompletions(known: Model<Api>, baseUrl: string): ChatCompletionsModel {
  const { compat: _compat, ...facts } = known;
  return { ...facts, api: "openai-completions", baseUrl };
}

/** A conversation's requests find each other's cache by its key, also through a gateway: pi sends it to OpenAI alone. */
const COMPAT: NonNullable<ChatCompletionsModel["compat"]> = { promptCacheKeyMode: "enabled" };

export const openai: ModelProvider = {
  name: "openai",
  missing: (_modelId, settings) => (settings.openai.apiKey === undefined ? "OPENAI_API_KEY" : undefined),
  resolve(modelId, settings) {
    const baseUrl = settings.openai.baseUrl ?? BASE_URL;
    const known = CATALOGUE.get(modelId);
    const facts =
      known === undefined
        ? unknownChatModel({ id: modelId, provider: "openai", baseUrl, settings })
        : overChatCompletions(known, baseUrl);
    return {
      model: { ...facts, compat: COMPAT },
      stream: createProviderStream({
        api: openAICompletionsApi(),
        apiKey: settings.openai.apiKey ?? "",
        adjustPayload: keepBlankResults,
        createMender: createChatChunkMender,
      }),
    };
  },
};
