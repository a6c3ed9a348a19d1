/**
 * `useResponseStart`: facts about a response for whoever reads it, attached before anything else happens.
 *
 * Source: contract RUNTIME 4.
 */
import { declareCallback } from "./declare-callback.ts";
import type { MetadataCallback, ResponseStartContext } from "./event-hooks.ts";

/**
 * Runs a callback once a response, before the first model request and before any `useAgentStart`. A plain object that it
 * returns is merged into the `metadata` of the response's message. It only observes: it is synchronous and cannot write.
 *
 * @example
 * ```ts
 * export const support: Agent = () => {
 *   useModel(defaultModel());
 *   useResponseStart(() => ({ policy: { version: 7 } }));
 *   return "You answer customers.";
 * };
 * ```
 */
export function useResponseStart(run: MetadataCallback<ResponseStartContext>): void {
  declareCallback("useResponseStart", "responseStart", run);
}
