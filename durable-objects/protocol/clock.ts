/** Time and randomness as ports, so that a simulator can drive them. */

export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
}

export interface Timers {
  /** Calls `run` once after `delayMs`; the returned function cancels it. */
  after(delayMs: number, run: () => void): () => void;
}

export const systemClock: Clock = { now: () => Date.now() };

export const systemTimers: Timers = {
  after(delayMs, run) {
    const timer = setTimeout(run, delayMs);
    return () => clearTimeout(timer);
  },
};
