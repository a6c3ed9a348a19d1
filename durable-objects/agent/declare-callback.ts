/** The rules the four event hooks share: only in the render of a whole conversation, and only a function. */
import type { EventHooks } from "./event-hooks.ts";
import { authoringError, currentFrame } from "./frame.ts";

/** Records a callback of the hook `name` in declaration order. */
export function declareCallback<K extends keyof EventHooks>(name: string, seam: K, run: EventHooks[K][number]): void {
  const frame = currentFrame(name);
  const misuse = (what: string) => authoringError(frame.agent, `misused ${name}(): ${what}`);
  if (frame.subagent) throw misuse("it is not available in a subagent render. Seams belong to a whole response.");
  if (typeof run !== "function") throw misuse("the callback must be a function.");
  const declared: EventHooks[K][number][] = frame.eventHooks[seam];
  declared.push(run);
}
