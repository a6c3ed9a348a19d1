/** `openai-compatible/<any name>`: the server at `OPENAI_BASE_URL` (Ollama, vLLM, a gateway), with or without a key. */
import { openAICompletionsApi } from "@earendil-works/pi-ai/api/openai-completions.lazy";
import { type ChatCompletionsModel, keepBlankResults, unknownChatModel } from "./chat-completions.ts";
import { createChatChunkMender } from "./mend-chat-chunks.ts";
import type { ModelProvider } from "./model.ts";
import { createProviderStream } from "./provider-stream.ts";

/** Local servers want some key and look at none. */
const NO_KEY = "none";

export const openaiCompatible: ModelProvider = {
  name: "openai-compatible",
  missing: (_modelId, settings) => (settings.openai.baseUrl === undefined ? "OPENAI_BASE_URL" : undefined),
  resolve(modelId, settings) {
    const model: ChatCompletionsModel = {
      ...unknownChatModel({
        id: modelId,
        provider: "openai-compatible",
        baseUrl: settings.openai.baseUrl ?? "",
        settings,
      }),
      // The words every server of this kind understands; OpenAI's newer ones are refused by some.
      compat: { supportsStore: false, supportsDeveloperRole: false, maxTokensField: "max_tokens" },
    };
    const stream = createProviderStream({
      api: openAICompletionsApi(),
      apiKey: settings.openai.apiKey ?? NO_KEY,
      adjustPayload: keepBlankResults,
      createMender: createChatChunkMender,
    });
    return { model, stream };
  },
};
