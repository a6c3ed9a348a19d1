/**
 * `useInitialData`: what the conversation was created with, the same for its whole life.
 *
 * Source: contract RUNTIME 1.3, 4.
 */
import { currentFrame } from "./frame.ts";

/**
 * Gives the creation data. It is `undefined` when the creator sent none, in a delegate and in a bare render: say so in
 * the type where that can be. With a schema in the agent's static `initialData` it fits that schema.
 *
 * @example
 * ```ts
 * export const triage: Agent = () => {
 *   useModel(defaultModel());
 *   const { issue } = useInitialData<{ issue: number }>();
 *   return `You look after issue ${issue}.`;
 * };
 * triage.initialData = Type.Object({ issue: Type.Integer() });
 * ```
 */
export function useInitialData<T = unknown>(): T {
  const frame = currentFrame("useInitialData");
  // The author says what the creator sends; the agent's own schema is what checks it.
  return (frame.subagent ? undefined : structuredClone(frame.runtime?.initialData)) as T;
}
