/**
 * `defaultModel`: the model the deployment chose with `BERTH_MODEL`, for agents that leave the choice to it.
 *
 * Source: contract RUNTIME 9.
 */
import { currentFrame } from "./frame.ts";

/**
 * Gives `provider/model` of the setting `BERTH_MODEL` (`scripted/demo` when unset).
 *
 * @example
 * ```ts
 * export const assistant: Agent = () => {
 *   useModel(defaultModel());
 *   return "You are a helpful assistant.";
 * };
 * ```
 */
export function defaultModel(): string {
  return currentFrame("defaultModel").settings.model;
}
