/**
 * `scripted/demo` (the embedded default, no key, no network) and `scripted/test...` (turns from a script, for tests).
 *
 * Source: contract RUNTIME 9.
 */
import type { Api, Model } from "@earendil-works/pi-ai";
import type { Settings } from "../protocol/settings.ts";
import { demoTurn } from "./demo-turn.ts";
import type { ModelProvider } from "./model.ts";
import { nextScriptedTurn } from "./script.ts";
import { createScriptedStream } from "./scripted-stream.ts";

const TEST_ID = /^test(?:-.+)?$/;

function scriptedModel(id: string, settings: Settings): Model<Api> {
  return {
    id,
    name: `Scripted ${id}`,
    api: "scripted",
    provider: "scripted",
    baseUrl: "scripted:",
    reasoning: false,
    input: ["text", "image"],
    cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
    contextWindow: settings.contextWindow,
    maxTokens: settings.maxTokens,
  };
}

export const scripted: ModelProvider = {
  name: "scripted",
  missing: () => undefined,
  resolve(modelId, settings) {
    const model = scriptedModel(modelId, settings);
    // It reads the newest message only, so nothing is too long for it, and it could not summarise.
    if (modelId === "demo") return { model: { ...model, contextWindow: 0 }, stream: createScriptedStream(demoTurn) };
    if (TEST_ID.test(modelId)) {
      return { model, stream: createScriptedStream((messages) => nextScriptedTurn(modelId, messages)) };
    }
    return undefined;
  },
};
