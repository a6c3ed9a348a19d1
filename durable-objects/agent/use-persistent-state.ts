/**
 * `usePersistentState`: a named value that lives as long as the conversation.
 *
 * Reading gives the durable value as of the render; writing becomes durable together with the result of the tool call, or
 * the end of the event hook, that wrote it. A call without a result has written nothing.
 *
 * Source: contract RUNTIME 4.
 */
import { authoringError, currentFrame } from "./frame.ts";
import { toJsonValue } from "./json-value.ts";
import { isNonEmptyString } from "./options.ts";
import { requireWritable } from "./write-guard.ts";

/** Takes a JSON value, or a function that makes it from the value as all writes so far leave it. */
export type StateSetter<T> = (value: Exclude<T, undefined> | ((previous: T) => Exclude<T, undefined>)) => void;

/**
 * Reads a value and gives the function that changes it. May be called conditionally; a name may stand once in a render.
 * The default stands in until the first write and is never stored.
 *
 * @example
 * ```ts
 * export const counter: Agent = () => {
 *   useModel(defaultModel());
 *   const [count, setCount] = usePersistentState("count", 0);
 *   useTool({
 *     name: "count_up",
 *     description: "Count one further.",
 *     run: () => setCount((before) => before + 1),
 *   });
 *   return `You count. The count is ${count}.`;
 * };
 * ```
 */
export function usePersistentState<T>(name: string, defaultValue: T): [T, StateSetter<T>];
export function usePersistentState<T = unknown>(name: string): [T | undefined, StateSetter<T | undefined>];
export function usePersistentState(name: string, defaultValue?: unknown): [unknown, StateSetter<unknown>] {
  const frame = currentFrame("usePersistentState");
  const misuse = (what: string) => authoringError(frame.agent, `misused usePersistentState(): ${what}`);
  if (frame.subagent) throw misuse("it is not available in a subagent render. State belongs to the conversation.");
  if (!isNonEmptyString(name)) throw misuse("the name must be a non-empty string.");
  if (frame.states.has(name)) throw misuse(`"${name}" was declared twice in one render.`);
  frame.states.add(name);
  const normalize = (value: unknown): unknown => {
    try {
      return toJsonValue(value);
    } catch (error) {
      throw misuse(`"${name}" cannot be set: ${error instanceof Error ? error.message : String(error)}`);
    }
  };
  const set: StateSetter<unknown> = (value) => {
    const runtime = requireWritable(frame, `the setter of usePersistentState("${name}")`);
    runtime.writeState(name, (previous) =>
      normalize(typeof value === "function" ? value(previous ? previous.value : defaultValue) : value),
    );
  };
  const stored = frame.runtime?.readState(name);
  return [stored ? stored.value : defaultValue, set];
}
