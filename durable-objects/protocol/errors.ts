/**
 * One table of error codes with their HTTP status, and the error value that crosses every boundary.
 *
 * Errors are told apart by who reacts: the caller (a code of `ROUTE_ERRORS` in an HTTP envelope), a waiter (a code of
 * `SETTLEMENT_ERRORS` inside a settlement), or us (anything else, answered as `internal_error`). Across RPC only plain
 * data travels: test `type`, never `instanceof`.
 *
 * Source: contract RUNTIME 1.11.
 */

export const ROUTE_ERRORS = {
  invalid_request: 400,
  invalid_json: 400,
  unauthorized: 401,
  forbidden: 403,
  route_not_found: 404,
  stream_not_found: 404,
  attachment_not_found: 404,
  agent_instance_not_found: 404,
  method_not_allowed: 405,
  agent_instance_exists: 409,
  submission_conflict: 409,
  approval_decided: 409,
  payload_too_large: 413,
  unsupported_media_type: 415,
  stream_offset_gone: 416,
  too_many_requests: 429,
  internal_error: 500,
  runtime_unavailable: 503,
} as const;

export const SETTLEMENT_ERRORS = [
  "operation_failed",
  "sandbox_died",
  "delegation_depth_exceeded",
  "subagent_not_declared",
  "attachment_not_available",
  "tool_name_conflict",
  "skill_definition_validation",
  "submission_aborted",
  "submission_interrupted",
  "submission_retry_exhausted",
  "submission_timeout",
  "context_overflow",
  "budget_exceeded",
  "model_not_configured",
  "provider_failed",
] as const;

/**
 * What `harness.prompt` and its like reject with, beside the codes of a settlement. Author code sees them: a tool's become
 * the text of its error result, a hook's settle the submission `failed` where nobody catches them.
 */
export const HARNESS_ERRORS = ["session_busy", "result_unavailable"] as const;

export type RouteErrorType = keyof typeof ROUTE_ERRORS;
export type SettlementErrorType = (typeof SETTLEMENT_ERRORS)[number];
export type HarnessErrorType = (typeof HARNESS_ERRORS)[number];
export type ErrorType = RouteErrorType | SettlementErrorType | HarnessErrorType;

/** A fault as plain data: what the envelope's `error` and a settlement's `error` hold. */
export interface Fault {
  type: ErrorType;
  message: string;
  /** What the caller can do about it. */
  details?: string;
  meta?: Record<string, unknown>;
}

/** A fault of the framework, thrown inside one isolate. */
export class BerthError extends Error {
  readonly type: ErrorType;
  readonly details: string | undefined;
  readonly meta: Record<string, unknown> | undefined;

  /** @param extra `cause` stays in the log. */
  constructor(
    type: ErrorType,
    message: string,
    extra: { details?: string; meta?: Record<string, unknown>; cause?: unknown } = {},
  ) {
    super(message, extra.cause === undefined ? {} : { cause: extra.cause });
    this.name = "BerthError";
    this.type = type;
    this.details = extra.details;
    this.meta = extra.meta;
  }
}

export function faultOf(error: BerthError): Fault {
  const fault: Fault = { type: error.type, message: error.message };
  if (error.details !== undefined) fault.details = error.details;
  if (error.meta !== undefined) fault.meta = error.meta;
  return fault;
}

export function httpStatusOf(type: ErrorType): number {
  return type in ROUTE_ERRORS ? ROUTE_ERRORS[type as RouteErrorType] : 500;
}
