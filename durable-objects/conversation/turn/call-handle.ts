/**
 * A running call as its owner holds it: a promise that can be aborted.
 *
 * An abort rejects it one macrotask later at the latest, so that work which answers the abort itself is heard, and work
 * that does not keeps nobody waiting.
 *
 * Source: contract RUNTIME 4 (harness), TOOLS 10.
 */
import { abortError } from "../../../containers/abort-error.ts";
import type { CallHandle } from "../../agent/harness.ts";
import type { Timers } from "../../protocol/clock.ts";

/** @param signals abort the call as well as its own `abort` does. */
export function createCallHandle<T>(
  work: (signal: AbortSignal) => Promise<T>,
  signals: readonly AbortSignal[],
  timers: Timers,
): CallHandle<T> {
  const own = new AbortController();
  const signal = AbortSignal.any([own.signal, ...signals]);
  const settled = settle(work, signal, timers);
  // Nobody need await it: a call that its owner let go is no unhandled rejection.
  settled.catch(() => {});
  return Object.assign(settled, { signal, abort: (reason?: unknown) => own.abort(reason) });
}

async function settle<T>(work: (signal: AbortSignal) => Promise<T>, signal: AbortSignal, timers: Timers): Promise<T> {
  if (signal.aborted) throw abortError(signal);
  const released = Promise.withResolvers<never>();
  let cancel = (): void => {};
  const onAbort = (): void => {
    cancel = timers.after(0, () => released.reject(abortError(signal)));
  };
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    return await Promise.race([work(signal), released.promise]);
  } finally {
    cancel();
    signal.removeEventListener("abort", onAbort);
  }
}
