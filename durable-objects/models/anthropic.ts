/** `anthropic/<model>`: Anthropic's Messages API, or a gateway that speaks it (`ANTHROPIC_BASE_URL`). */
import type { Model } from "@earendil-works/pi-ai";
import { anthropicMessagesApi } from "@earendil-works/pi-ai/api/anthropic-messages.lazy";
import { ANTHROPIC_MODELS } from "@earendil-works/pi-ai/providers/anthropic.models";
import type { Settings } from "../protocol/settings.ts";
import { createMessageEventMender } from "./mend-message-events.ts";
import type { ModelProvider } from "./model.ts";
import { createProviderStream } from "./provider-stream.ts";

const CATALOGUE: ReadonlyMap<string, Model<"anthropic-messages">> = new Map(Object.entries(ANTHROPIC_MODELS));
const BASE_URL = "https://api.anthropic.com";

/** A model newer than the catalogue: no prices, the limits of the settings. */
function unknownModel(id: string, settings: Settings): Model<"anthropic-messages"> {
  return {
    id,
    name: id,
    api: "anthropic-messages",
    provider: "anthropic",
    baseUrl: BASE_URL,
    reasoning: false,
    input: ["text", "image"],
    cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
    contextWindow: settings.contextWindow,
    maxTokens: settings.maxTokens,
  };
}

export const anthropic: ModelProvider = {
  name: "anthropic",
  missing: (_modelId, settings) => (settings.anthropic.apiKey === undefined ? "ANTHROPIC_API_KEY" : undefined),
  resolve(modelId, settings) {
    const known = CATALOGUE.get(modelId) ?? unknownModel(modelId, settings);
    const model: Model<"anthropic-messages"> = {
      ...known,
      baseUrl: settings.anthropic.baseUrl ?? known.baseUrl,
      // A continued thread lives in the memory of one isolate; the records are the only state here.
      compat: { ...known.compat, supportsMessageThreads: false },
    };
    const stream = createProviderStream({
      api: anthropicMessagesApi(),
      apiKey: settings.anthropic.apiKey ?? "",
      createMender: createMessageEventMender,
    });
    return { model, stream };
  },
};
