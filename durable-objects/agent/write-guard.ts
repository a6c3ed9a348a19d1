/**
 * Where the functions that hooks return may be called: while a tool call or an event hook callback of the agent runs,
 * never in a render, and never later.
 *
 * Source: contract RUNTIME 4.
 */
import { authoringError, type Frame, isRendering } from "./frame.ts";
import type { RenderRuntime } from "./render-runtime.ts";

/**
 * Gives the runtime to write to, or throws.
 *
 * @param what the function and its hook, as in `the setter of usePersistentState("plan")`.
 */
export function requireWritable(frame: Frame, what: string): RenderRuntime {
  const refuse = (why: string) => authoringError(frame.agent, `called ${what} ${why}`);
  if (isRendering()) throw refuse("during a render. A render only reads: call it in a tool or a callback.");
  const { runtime } = frame;
  if (runtime === undefined) throw refuse("of a bare render, which has no conversation behind it.");
  if (!runtime.canWrite()) {
    throw refuse("outside of a running tool call or event hook callback. What was started there must end there.");
  }
  return runtime;
}
