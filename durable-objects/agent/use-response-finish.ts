/**
 * `useResponseFinish`: facts about a response for whoever reads it, attached as it ends.
 *
 * Source: contract RUNTIME 4.
 */
import { declareCallback } from "./declare-callback.ts";
import type { MetadataCallback, ResponseFinishContext } from "./event-hooks.ts";

/**
 * Runs a callback once a response, as it settles `completed`: in that very transaction, so that its metadata is there when
 * the settlement is. It only observes: it is synchronous and cannot write.
 *
 * @example
 * ```ts
 * export const support: Agent = () => {
 *   useModel(defaultModel());
 *   useResponseFinish(({ response }) => ({ tokens: response.usage.totalTokens }));
 *   return "You answer customers.";
 * };
 * ```
 */
export function useResponseFinish(run: MetadataCallback<ResponseFinishContext>): void {
  declareCallback("useResponseFinish", "responseFinish", run);
}
