/**
 * W3C trace context of the caller. What is malformed is left out, as the standard asks: a trace never fails a request.
 *
 * Source: contract RUNTIME 1.3; W3C Trace Context 2.
 */
import type { TraceContext } from "../../durable-objects/protocol/submission.ts";

const TRACEPARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}(-.*)?$/;
const MEMBER = /^[a-z0-9][a-z0-9_\-*/@]{0,255}=[\x20-\x2b\x2d-\x3c\x3e-\x7e]{0,255}[\x21-\x2b\x2d-\x3c\x3e-\x7e]$/;
const MAX_STATE_CHARS = 512;
const MAX_STATE_MEMBERS = 32;

function isTraceparent(value: string): boolean {
  const match = TRACEPARENT.exec(value);
  if (!match) return false;
  const [, version, traceId, parentId, more] = match;
  if (version === "ff" || /^0+$/.test(traceId ?? "") || /^0+$/.test(parentId ?? "")) return false;
  return version !== "00" || more === undefined;
}

function isTracestate(value: string): boolean {
  if (value.length > MAX_STATE_CHARS) return false;
  const members = value.split(",").map((member) => member.trim());
  const filled = members.filter((member) => member !== "");
  return filled.length > 0 && members.length <= MAX_STATE_MEMBERS && filled.every((member) => MEMBER.test(member));
}

export function readTraceContext(headers: Headers): TraceContext | undefined {
  const traceparent = headers.get("traceparent")?.trim();
  if (traceparent === undefined || !isTraceparent(traceparent)) return undefined;
  const tracestate = headers.get("tracestate")?.trim();
  return tracestate === undefined || !isTracestate(tracestate) ? { traceparent } : { traceparent, tracestate };
}
