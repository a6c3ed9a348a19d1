/**
 * What a failed provider response means: try again, give up, or make the request smaller.
 *
 * The HTTP status decides, or what the provider told in the place of one (`provider-stream.ts`), or its stop reason. A
 * line that broke is tried again; a request that never left is our fault and is not.
 *
 * Source: contract RUNTIME 6 (overflow), 9.
 */
import type { AssistantMessage } from "@earendil-works/pi-ai";
import { isContextOverflow } from "@earendil-works/pi-ai/utils/overflow";
import { PROVIDER_RESPONSE } from "./provider-stream.ts";
import { readStopReason } from "./stop-reason.ts";

export interface ProviderFault {
  kind: "transient" | "permanent" | "overflow";
  status?: number;
  /** As asked by the provider, not capped. */
  retryAfterMs?: number;
  /** Says what happened without the provider's text, which may quote a key or the prompt. */
  message: string;
}

const HTTP_OK = 200;
const TRANSIENT_STATUS: readonly number[] = [408, 429];
const FIRST_SERVER_FAULT = 500;
/** An answer with one of these is about load or about who asks, whatever its text says about tokens. */
const NEVER_OVERFLOW: readonly number[] = [401, 402, 403, 404, 408, 429, 503, 529];

/** Marker of Workers AI for a request above its window (RUNTIME 6). */
const WORKERS_AI_OVERFLOW = "(request_too_large)";

/** How a provider that is not asked over HTTP says that another try changes nothing. */
const PERMANENT_BY_NAME = /^(?:invalid_request|authentication|permission|not_found)_error\b/;

function hasUsableContent(message: AssistantMessage): boolean {
  return message.content.some(
    (block) => block.type === "toolCall" || (block.type === "text" && block.text.trim() !== ""),
  );
}

/** `false` for a usable response and for one the caller aborted. */
export function isProviderFault(message: AssistantMessage): boolean {
  if (message.stopReason === "aborted") return false;
  if (message.stopReason === "error" || message.stopReason === "pending") return true;
  return !hasUsableContent(message);
}

interface Facts {
  requested: boolean | undefined;
  status: number | undefined;
  retryAfterMs: number | undefined;
}

function readFacts(message: AssistantMessage): Facts {
  const details = message.diagnostics?.findLast((diagnostic) => diagnostic.type === PROVIDER_RESPONSE)?.details;
  return {
    requested: typeof details?.requested === "boolean" ? details.requested : undefined,
    status: typeof details?.status === "number" ? details.status : undefined,
    retryAfterMs: typeof details?.retryAfterMs === "number" ? details.retryAfterMs : undefined,
  };
}

function isOverflow(message: AssistantMessage, status: number | undefined): boolean {
  if (message.errorMessage?.includes(WORKERS_AI_OVERFLOW)) return true;
  if (status !== undefined && NEVER_OVERFLOW.includes(status)) return false;
  return isContextOverflow(message);
}

function statusText(status: number): string {
  if (status === 401 || status === 403) return "refused the key (check the provider's secret)";
  if (status === 404) return "does not know the model or the address";
  if (status === 408) return "timed out";
  if (status === 429) return "asks for fewer requests";
  if (status >= FIRST_SERVER_FAULT) return "is failing or overloaded";
  return "refused the request";
}

function describe(kind: ProviderFault["kind"], status: number | undefined, requested: boolean | undefined): string {
  if (kind === "overflow") return "The request is larger than the model's context window.";
  if (status !== undefined && status !== HTTP_OK) return `The model provider ${statusText(status)} (HTTP ${status}).`;
  if (requested === false) return "The request to the model provider could not be made.";
  if (kind === "permanent") return "The model provider ended the response with an error.";
  return status === undefined
    ? "The model provider could not be reached."
    : "The model provider's response broke off before it was complete.";
}

function isTransientStatus(status: number): boolean {
  return TRANSIENT_STATUS.includes(status) || status >= FIRST_SERVER_FAULT;
}

function kindOf(
  message: AssistantMessage,
  status: number | undefined,
  requested: boolean | undefined,
): ProviderFault["kind"] {
  if (isOverflow(message, status)) return "overflow";
  if (requested === false) return "permanent";
  if (status !== undefined && status !== HTTP_OK && !isTransientStatus(status)) return "permanent";
  if (requested === undefined && PERMANENT_BY_NAME.test(message.errorMessage ?? "")) return "permanent";
  return "transient";
}

/**
 * Classifies a message for which `isProviderFault` holds. `httpStatus` stands in where the message carries no status of
 * its own.
 */
export function classifyProviderFault(message: AssistantMessage, httpStatus?: number): ProviderFault {
  const facts = readFacts(message);
  const status = facts.status ?? httpStatus;
  const known = { ...(status !== undefined && { status }) };
  if (message.stopReason !== "error") {
    return { kind: "transient", message: "The model provider's answer was empty.", ...known };
  }
  if (message.rawStopReason !== undefined && readStopReason(message.rawStopReason) === "refused") {
    return { kind: "permanent", message: "The model or its provider refused to answer.", ...known };
  }
  const kind = kindOf(message, status, facts.requested);
  const fault: ProviderFault = { kind, message: describe(kind, status, facts.requested), ...known };
  if (facts.retryAfterMs !== undefined) fault.retryAfterMs = facts.retryAfterMs;
  return fault;
}
