/**
 * Releases the caller of a tool that does not end by itself after an abort; the tool's own work may run on.
 *
 * An abort waits one macrotask, so that a tool which answers the abort itself is heard: its rejection stands, its success
 * does not (no stale success). What comes later is consumed silently.
 *
 * Source: contract TOOLS 10 (abandonToolOnAbort), D25.
 */
import { abortError } from "../../containers/abort-error.ts";
import { systemTimers, type Timers } from "../protocol/clock.ts";
import type { DurableTool } from "./define-tool.ts";

const ABANDON_SUFFIX = " The tool execution could not be confirmed cancelled and may still be running.";

export function abandonToolOnAbort(tool: DurableTool, timers: Timers = systemTimers): DurableTool {
  return {
    ...tool,
    async execute(id, args, signal, onUpdate) {
      if (signal === undefined) return tool.execute(id, args, signal, onUpdate);
      if (signal.aborted) throw abortError(signal);
      return settleOrAbandon(() => tool.execute(id, args, signal, onUpdate), signal, timers);
    },
  };
}

/** The same for any work: rejects one macrotask after an abort, whatever the work does. */
export async function settleOrAbandon<T>(run: () => Promise<T>, signal: AbortSignal, timers: Timers): Promise<T> {
  const abandoned = Promise.withResolvers<never>();
  let cancel = () => {};
  const onAbort = () => {
    cancel = timers.after(0, () => abandoned.reject(abortError(signal, ABANDON_SUFFIX)));
  };
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    // The race watches both ends of the run, so that a late failure is never an unhandled rejection.
    const result = await Promise.race([run(), abandoned.promise]);
    if (signal.aborted) throw abortError(signal);
    return result;
  } finally {
    cancel();
    signal.removeEventListener("abort", onAbort);
  }
}
