/**
 * The one place where a fault becomes an HTTP answer.
 *
 * A framework error is shown as it is; anything else is a generic 500 with a reference that stands in one line of the log.
 * No answer holds a stack, a cause or a foreign message (only `dev` does, in local development).
 *
 * Source: contract RUNTIME 1.11.
 */
import { BerthError, type Fault, faultOf, httpStatusOf } from "../../durable-objects/protocol/errors.ts";
import { systemIds } from "../../durable-objects/protocol/ids.ts";
import { secured } from "./headers.ts";

const RETRY_SECONDS = "1";
const INTERNAL: Fault = { type: "internal_error", message: "Something went wrong on our side." };

export interface ErrorContext {
  method: string;
  /** Adds `dev`. */
  development: boolean;
}

/** A conversation's object was restarted or is overloaded: nothing is wrong, the same request works in a moment. */
function isPassing(error: unknown): boolean {
  if (typeof error !== "object" || error === null) return false;
  return ["retryable", "overloaded", "durableObjectReset"].some((flag) => Reflect.get(error, flag) === true);
}

function faultFrom(error: unknown): Fault {
  if (error instanceof BerthError) return faultOf(error);
  if (isPassing(error)) return { type: "runtime_unavailable", message: "The conversation is restarting. Try again." };
  return INTERNAL;
}

function headersOf(fault: Fault): Headers {
  const headers = secured({ "content-type": "application/json", "cache-control": "no-store" });
  if (fault.type === "runtime_unavailable" || fault.type === "too_many_requests")
    headers.set("retry-after", RETRY_SECONDS);
  if (fault.type === "unauthorized") headers.set("www-authenticate", "Bearer");
  if (fault.type === "method_not_allowed" && Array.isArray(fault.meta?.allow)) {
    headers.set("allow", fault.meta.allow.join(", "));
  }
  return headers;
}

/** One JSON line: the reference a caller can name, and what happened. */
function logInternal(ref: string, fault: Fault, error: unknown, context: ErrorContext): void {
  const cause = error instanceof Error ? { name: error.name, message: error.message, stack: error.stack } : {};
  console.error(
    JSON.stringify({
      event: "request_failed",
      level: "error",
      ref,
      method: context.method,
      type: fault.type,
      ...cause,
    }),
  );
}

/** Answers with a fault. `error` is what was thrown or what a conversation answered. */
export function renderError(error: unknown, context: ErrorContext): Response {
  const fault = faultFrom(error);
  const status = httpStatusOf(fault.type);
  const headers = headersOf(fault);
  const body: Record<string, unknown> = { type: fault.type, message: fault.message, details: fault.details ?? "" };
  if (fault.meta !== undefined) body.meta = fault.meta;
  if (status === 500) {
    const ref = systemIds.next("err");
    logInternal(ref, fault, error, context);
    body.ref = ref;
    headers.set("flue-error-ref", ref);
    if (context.development) body.dev = error instanceof Error ? error.message : String(error);
  }
  return new Response(context.method === "HEAD" ? null : JSON.stringify({ error: body }), { status, headers });
}

/** A fault a conversation answered, as something to throw. */
export function errorOf(fault: Fault): BerthError {
  const extra: { details?: string; meta?: Record<string, unknown> } = {};
  if (fault.details !== undefined) extra.details = fault.details;
  if (fault.meta !== undefined) extra.meta = fault.meta;
  return new BerthError(fault.type, fault.message, extra);
}
