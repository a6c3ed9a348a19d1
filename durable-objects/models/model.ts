/**
 * What the engine needs of a model: pi's description of it and the function that streams one response; and what a
 * provider is in the catalogue.
 *
 * Source: contract RUNTIME 9.
 */
import type { StreamFn } from "@earendil-works/pi-agent-core";
import type { Api, Model } from "@earendil-works/pi-ai";
import type { Settings } from "../protocol/settings.ts";

export interface ResolvedModel {
  model: Model<Api>;
  /** Never throws: a failure is a final message with `stopReason` `error` or `aborted`. Carries the key itself. */
  stream: StreamFn;
}

export interface ModelProvider {
  /** What stands before the first slash of `provider/model`. */
  name: string;
  /** The secret, variable or binding without which the provider cannot be asked, when it is not there. */
  missing(modelId: string, settings: Settings): string | undefined;
  /** Called only when nothing is missing. `undefined`: there is no such model and none can be made up. */
  resolve(modelId: string, settings: Settings): ResolvedModel | undefined;
}
