/**
 * What follows from a model step that failed: a wait and another try, or the end.
 *
 * Source: contract RUNTIME 2.7, 9.
 */
import type { AssistantMessage } from "@earendil-works/pi-ai";
import { classifyProviderFault } from "../../models/provider-fault.ts";
import type { Fault } from "../../protocol/errors.ts";
import {
  PROVIDER_RETRIES,
  PROVIDER_RETRY_BASE_MS,
  PROVIDER_RETRY_MAX_MS,
  PROVIDER_RETRY_MIN_MS,
} from "../../protocol/limits.ts";

export type AfterFault = { kind: "retry"; afterMs: number; reason: string } | { kind: "failed"; fault: Fault };

/**
 * @param retriesBefore transient faults in a row before this one.
 * @param random in [0, 1), for jitter.
 */
export function resolveProviderFault(message: AssistantMessage, retriesBefore: number, random: number): AfterFault {
  const fault = classifyProviderFault(message);
  if (fault.kind === "transient" && retriesBefore < PROVIDER_RETRIES) {
    const afterMs = retryDelayMs(retriesBefore, fault.retryAfterMs, random);
    return { kind: "retry", afterMs, reason: fault.message };
  }
  const meta = fault.status === undefined ? {} : { meta: { status: fault.status } };
  const type = fault.kind === "overflow" ? "context_overflow" : "provider_failed";
  return { kind: "failed", fault: { type, message: fault.message, ...meta } };
}

/** Doubles from the base, with jitter; what the provider asks for is kept up to the longest wait. */
function retryDelayMs(retriesBefore: number, retryAfterMs: number | undefined, random: number): number {
  if (retryAfterMs !== undefined) {
    return Math.min(Math.max(retryAfterMs, PROVIDER_RETRY_MIN_MS), PROVIDER_RETRY_MAX_MS);
  }
  const base = PROVIDER_RETRY_BASE_MS * 2 ** retriesBefore;
  return Math.round(Math.min(base * (0.8 + 0.4 * random), PROVIDER_RETRY_MAX_MS));
}
