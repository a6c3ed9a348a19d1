/**
 * A real Berth whose agents talk to a scripted model server over HTTP; both belong to one test file.
 */

import { ModelServer } from "../model-server/model-server.ts";
import { BerthProcess, type BerthSettings } from "../processes/berth-process.ts";

export interface ScriptedBerth {
  berth: BerthProcess;
  model: ModelServer;
  stop(): Promise<void>;
}

export async function startScriptedBerth(settings: BerthSettings = {}, entry?: string): Promise<ScriptedBerth> {
  const model = await ModelServer.start();
  try {
    const own = {
      BERTH_MODEL: "openai-compatible/scripted",
      OPENAI_BASE_URL: model.baseUrl,
      OPENAI_API_KEY: "sk-no-secret",
      ANTHROPIC_BASE_URL: model.origin,
      ANTHROPIC_API_KEY: "sk-no-secret",
    };
    const berth = await BerthProcess.start({ ...own, ...settings }, entry);
    return {
      berth,
      model,
      async stop() {
        await berth.stop();
        await model.stop();
      },
    };
  } catch (error) {
    await model.stop();
    throw error;
  }
}
