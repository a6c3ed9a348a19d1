/**
 * Calls to the stub that always end: with the answer, with the death of the container, or at a deadline of our own.
 *
 * Owns what is known of the container's health. A call that found the container only starting is made once more. The call
 * after a death often fails too, whatever it is; so a harmless one goes first and takes that failure.
 *
 * Source: contract TOOLS 13.3.
 */
import type { Timers } from "../../../durable-objects/protocol/clock.ts";
import {
  MAX_SANDBOX_START_RETRY_MS,
  SANDBOX_CALL_DEADLINE_MS,
  SANDBOX_START_RETRY_MS,
} from "../../../durable-objects/protocol/limits.ts";
import { abortError } from "../../abort-error.ts";
import { isSandboxDied } from "../../sandbox-died-error.ts";
import { detectDeath } from "./death-detector.ts";
import { describeFailure, startingDelayMs } from "./sandbox-errors.ts";
import type { SandboxStub } from "./stub.ts";

export interface CallOptions {
  /** How long the answer may take. */
  deadlineMs?: number | undefined;
  /** Releases the caller and ends the watch over the call; the call itself may go on. */
  signal?: AbortSignal | undefined;
}

export type GuardedCall = <T>(
  operation: string,
  work: (stub: SandboxStub) => Promise<T>,
  options?: CallOptions,
) => Promise<T>;

export function guardCalls(stub: SandboxStub, timers: Timers): GuardedCall {
  let hasDied = false;

  async function once<T>(
    operation: string,
    work: (stub: SandboxStub) => Promise<T>,
    { deadlineMs = SANDBOX_CALL_DEADLINE_MS, signal }: CallOptions,
  ): Promise<T> {
    if (signal?.aborted) throw abortError(signal);
    const detector = detectDeath(operation, async () => stub.getState(), timers);
    const released = Promise.withResolvers<never>();
    const onAbort = (): void => released.reject(signal && abortError(signal));
    const cancelDeadline = timers.after(deadlineMs, () => {
      released.reject(new Error(`Sandbox ${operation} failed: no answer within ${deadlineMs / 1000} seconds.`));
    });
    signal?.addEventListener("abort", onAbort, { once: true });
    try {
      // The async frame makes a rejection of a synchronous throw.
      return await Promise.race([(async () => work(stub))(), detector.died, released.promise]);
    } finally {
      detector.stop();
      cancelDeadline();
      signal?.removeEventListener("abort", onAbort);
    }
  }

  async function withRetry<T>(
    operation: string,
    work: (stub: SandboxStub) => Promise<T>,
    options: CallOptions,
  ): Promise<T> {
    try {
      return await once(operation, work, options);
    } catch (error) {
      const delayMs = startingDelayMs(error, {
        defaultMs: SANDBOX_START_RETRY_MS,
        maxMs: MAX_SANDBOX_START_RETRY_MS,
      });
      if (delayMs === undefined) throw error;
      await wait(delayMs, options.signal);
      return await once(operation, work, options);
    }
  }

  function wait(delayMs: number, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const onAbort = (): void => {
        cancel();
        reject(signal && abortError(signal));
      };
      const cancel = timers.after(delayMs, () => {
        signal?.removeEventListener("abort", onAbort);
        resolve();
      });
      signal?.addEventListener("abort", onAbort, { once: true });
    });
  }

  return async (operation, work, options = {}) => {
    if (hasDied) {
      hasDied = false;
      await withRetry("exec", (fresh) => fresh.exec(":", { cwd: "/" }), options).catch(() => {});
    }
    try {
      return await withRetry(operation, work, options);
    } catch (error) {
      const failure = describeFailure(operation, error);
      if (isSandboxDied(failure)) hasDied = true;
      throw failure;
    }
  };
}
