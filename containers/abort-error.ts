/**
 * What a caller is told when an abort ends its call.
 *
 * Source: contract TOOLS 10, D25.
 */

/** The texts with which platforms fill an abort that was given no reason. */
const PLATFORM_REASONS = new Set([
  "This operation was aborted",
  "The operation was aborted",
  "signal is aborted without reason",
]);
const NO_REASON = "The operation was aborted.";

function hasOwnReason(reason: unknown): reason is Error {
  if (!(reason instanceof Error) || reason.message === "") return false;
  return !(reason.name === "AbortError" && PLATFORM_REASONS.has(reason.message));
}

/** The sentence an abort is reported with: its reason's own words, else the spec's sentence. */
export function abortText(reason: unknown): string {
  if (hasOwnReason(reason)) return reason.message;
  return typeof reason === "string" && reason !== "" ? reason : NO_REASON;
}

/** An `AbortError` whose cause is the signal's reason. */
export function abortError(signal: AbortSignal, suffix = ""): DOMException {
  const error = new DOMException(abortText(signal.reason) + suffix, "AbortError");
  Object.defineProperty(error, "cause", { value: signal.reason, configurable: true, writable: true });
  return error;
}
