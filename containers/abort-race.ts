/**
 * Releases the caller of a command as soon as its signal fires; the command itself may run on.
 *
 * Both settlements of a command left behind are consumed, so that none becomes an unhandled rejection (TOOLS 16).
 *
 * Source: contract TOOLS 10 (raceExecAbort), 12 (onOrphanSettled).
 */
import { abortError } from "./abort-error.ts";
import type { ExecResult } from "./sandbox.ts";

const ORPHAN_SUFFIX = " The sandbox command could not be confirmed cancelled and may still be running.";

/** How a command ended whose caller an abort had already released. */
export interface OrphanSettlement {
  command: string;
  startedAt: Date;
  abortedAt: Date;
  settledAt: Date;
  result?: ExecResult;
  error?: unknown;
}

/** Called once a command left behind; what it throws is swallowed. */
export type OrphanObserver = (settlement: OrphanSettlement) => void;

export interface RacedExec {
  command: string;
  signal: AbortSignal | undefined;
  onOrphanSettled: OrphanObserver | undefined;
  run(): Promise<ExecResult>;
}

/**
 * Runs a command against its signal. Aborted before: never started. Aborted in flight: rejects at once, saying that the
 * command may still run. Finished in the tick of the abort: rejects too, so that no stale success is reported.
 */
export async function raceExecAbort(raced: RacedExec): Promise<ExecResult> {
  const { signal, run } = raced;
  if (signal === undefined) return run();
  if (signal.aborted) throw abortError(signal);

  const startedAt = new Date();
  const left = Promise.withResolvers<never>();
  let abortedAt = startedAt;
  let released = false;
  const onAbort = () => {
    abortedAt = new Date();
    // A microtask later: a command that had settled by then keeps its place in front of the abort.
    queueMicrotask(() => {
      released = true;
      left.reject(abortError(signal, ORPHAN_SUFFIX));
    });
  };
  signal.addEventListener("abort", onAbort, { once: true });

  const report = (outcome: { result: ExecResult } | { error: unknown }) => {
    if (released) {
      observe(raced, { command: raced.command, startedAt, abortedAt, settledAt: new Date(), ...outcome });
    }
  };
  const settled = start(run).then(
    (result) => {
      report({ result });
      if (signal.aborted) throw abortError(signal);
      return result;
    },
    (error: unknown) => {
      report({ error });
      throw error;
    },
  );
  settled.catch(() => {});
  try {
    return await Promise.race([settled, left.promise]);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}

/** The driver's own promise, so that no extra microtask hides that it had settled; a synchronous throw is a rejection. */
function start(run: () => Promise<ExecResult>): Promise<ExecResult> {
  try {
    return Promise.resolve(run());
  } catch (error) {
    return Promise.reject(error);
  }
}

function observe(raced: RacedExec, settlement: OrphanSettlement): void {
  // The async frame catches a throw and the rejection of an observer that returns a promise.
  (async () => raced.onOrphanSettled?.(settlement))().catch(() => {});
}
