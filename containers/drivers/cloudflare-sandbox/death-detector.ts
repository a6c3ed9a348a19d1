/**
 * Tells a call in flight that its container died: the platform may leave such a call without an answer for ever.
 *
 * The first probe goes out 5 s into the call, each next one 5 s after an answer. A stopped container, or a probe that stays
 * unanswered for 10 s, is a death; a probe that fails counts as alive. The detector ends with its caller.
 *
 * Source: contract TOOLS 13.3.
 */
import type { Timers } from "../../../durable-objects/protocol/clock.ts";
import { SANDBOX_PROBE_INTERVAL_MS, SANDBOX_PROBE_SILENCE_MS } from "../../../durable-objects/protocol/limits.ts";
import { SandboxDiedError } from "../../sandbox-died-error.ts";

/** Whether a state of the SDK means that no container is there. */
export function isStopped(status: string): boolean {
  return status === "stopped" || status === "stopped_with_code";
}

export interface DeathDetector {
  /** Rejects with `SandboxDiedError`; never resolves. */
  readonly died: Promise<never>;
  /** No probe goes out any more. */
  stop(): void;
}

export function detectDeath(
  operation: string,
  probe: () => Promise<{ status: string }>,
  timers: Timers,
): DeathDetector {
  const death = Promise.withResolvers<never>();
  // Whoever does not wait for it leaves no unhandled rejection behind.
  death.promise.catch(() => {});
  let hasEnded = false;
  let cancel = (): void => {};

  const ask = async (): Promise<void> => {
    cancel = timers.after(SANDBOX_PROBE_SILENCE_MS, () => {
      death.reject(new SandboxDiedError(operation, "probe_silent"));
    });
    let status = "";
    try {
      status = (await probe()).status;
    } catch {
      // A probe that fails was answered.
    }
    if (hasEnded) return;
    cancel();
    if (isStopped(status)) death.reject(new SandboxDiedError(operation, "stopped"));
    else cancel = timers.after(SANDBOX_PROBE_INTERVAL_MS, () => void ask());
  };
  cancel = timers.after(SANDBOX_PROBE_INTERVAL_MS, () => void ask());

  return {
    died: death.promise,
    stop() {
      hasEnded = true;
      cancel();
    },
  };
}
