/** A wait that an abort ends. */
import { abortError } from "../../../containers/abort-error.ts";
import type { Timers } from "../../protocol/clock.ts";

/** Resolves after `ms`; rejects with an `AbortError` as soon as the signal fires. */
export function pause(timers: Timers, ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => {
      cancel();
      reject(abortError(signal));
    };
    const cancel = timers.after(ms, () => {
      signal.removeEventListener("abort", onAbort);
      resolve();
    });
    if (signal.aborted) onAbort();
    else signal.addEventListener("abort", onAbort, { once: true });
  });
}
