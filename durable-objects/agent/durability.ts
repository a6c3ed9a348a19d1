/**
 * How long an agent's submissions are kept at: a static of the agent, since it also counts while the agent does not run.
 *
 * Source: contract RUNTIME 2.7, 4.
 */
import { MAX_ATTEMPTS_WITHOUT_PROGRESS, SUBMISSION_TIMEOUT_MS } from "../protocol/limits.ts";
import type { Durability } from "../protocol/submission.ts";
import { isRecord, unknownField } from "./options.ts";

/** As an author gives it; absent fields take the defaults. */
export interface DurabilityOptions {
  /** Attempts in a row without progress; default 10. */
  maxAttempts?: number;
  /** Milliseconds from the first attempt's start; default an hour. */
  timeoutMs?: number;
}

const FIELDS = ["maxAttempts", "timeoutMs"] as const;

export const DEFAULT_DURABILITY: Durability = Object.freeze({
  maxAttempts: MAX_ATTEMPTS_WITHOUT_PROGRESS,
  timeoutMs: SUBMISSION_TIMEOUT_MS,
});

/** Throws for what cannot be kept to, and names the agent. */
export function parseDurability(agent: string, options: unknown): Durability {
  if (options === undefined) return DEFAULT_DURABILITY;
  const fail = (what: string) => new Error(`Agent "${agent}": ${what}`);
  if (!isRecord(options)) throw fail("durability must be an object.");
  const unknown = unknownField(options, FIELDS);
  if (unknown !== undefined) throw fail(`durability received unknown field "${unknown}".`);
  for (const field of FIELDS) {
    const value = options[field];
    if (value !== undefined && !(Number.isSafeInteger(value) && Number(value) > 0)) {
      throw fail(`durability.${field} must be a positive whole number.`);
    }
  }
  const { maxAttempts, timeoutMs } = options as DurabilityOptions;
  return Object.freeze({
    maxAttempts: maxAttempts ?? DEFAULT_DURABILITY.maxAttempts,
    timeoutMs: timeoutMs ?? DEFAULT_DURABILITY.timeoutMs,
  });
}
