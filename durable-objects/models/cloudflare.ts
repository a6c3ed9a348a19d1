/**
 * `cloudflare/@cf/...`: Workers AI through the `AI` binding, without a token.
 *
 * Requests go through the account's AI Gateway `default`, which Cloudflare makes on first use: the binding's `fetch`
 * serves the gateway's routes, and there Workers AI speaks chat completions.
 */
import { type AiBinding, createAiBindingFetch } from "@earendil-works/pi-ai/api/cloudflare-ai-binding";
import { openAICompletionsApi } from "@earendil-works/pi-ai/api/openai-completions.lazy";
import { CLOUDFLARE_WORKERS_AI_MODELS } from "@earendil-works/pi-ai/providers/cloudflare-workers-ai.models";
import { type ChatCompletionsModel, keepBlankResults, unknownChatModel } from "./chat-completions.ts";
import { createChatChunkMender } from "./mend-chat-chunks.ts";
import type { ModelProvider } from "./model.ts";
import { createProviderStream } from "./provider-stream.ts";

const CATALOGUE: ReadonlyMap<string, ChatCompletionsModel> = new Map(Object.entries(CLOUDFLARE_WORKERS_AI_MODELS));
const BASE_URL = "https://workers-binding.ai/ai-gateway/gateways/default/workers-ai/v1";

/** The SDK wants a key; a header that carries one would override the binding's own identity. */
const UNUSED_KEY = "binding";
const NO_AUTHORIZATION = { Authorization: null };

/** Requests of one conversation go to the machine that has its beginning cached; what every model here can do. */
const UNKNOWN_COMPAT: NonNullable<ChatCompletionsModel["compat"]> = { sendSessionAffinityHeaders: true };

function isAiBinding(value: unknown): value is AiBinding {
  return typeof value === "object" && value !== null && "fetch" in value && typeof value.fetch === "function";
}

export const cloudflare: ModelProvider = {
  name: "cloudflare",
  missing: (_modelId, settings) => (isAiBinding(settings.ai) ? undefined : "AI (the Workers AI binding)"),
  resolve(modelId, settings) {
    if (!isAiBinding(settings.ai)) return undefined;
    const known = CATALOGUE.get(modelId) ?? {
      ...unknownChatModel({ id: modelId, provider: "cloudflare-workers-ai", baseUrl: BASE_URL, settings }),
      compat: UNKNOWN_COMPAT,
    };
    const stream = createProviderStream({
      adjustPayload: keepBlankResults,
      createMender: createChatChunkMender,
      api: openAICompletionsApi(),
      apiKey: UNUSED_KEY,
      headers: NO_AUTHORIZATION,
      fetch: createAiBindingFetch(settings.ai),
    });
    return { model: { ...known, baseUrl: BASE_URL }, stream };
  },
};
