/**
 * What the engine needs of a model: pi's description of it and the function that streams one response.
 *
 * Source: contract RUNTIME 9.
 */
import type { StreamFn } from "@earendil-works/pi-agent-core";
import type { Api, Model } from "@earendil-works/pi-ai";

export interface ResolvedModel {
  model: Model<Api>;
  /** Never throws: a failure is a final message with `stopReason` `error` or `aborted`. Carries the key itself. */
  stream: StreamFn;
}
