/**
 * A submission: one admitted input of a conversation, from admission to its one terminal outcome.
 *
 * `TRANSITIONS` is the only table of allowed changes; the submission queue is its only writer (invariants Q1 to Q5).
 *
 * Source: contract RUNTIME 2.1, 1.3.
 */
import type { Fault } from "./errors.ts";

export type SubmissionState = "queued" | "running" | "joined" | "settled";
export type Outcome = "completed" | "failed" | "aborted";

export const TRANSITIONS: Readonly<Record<SubmissionState, readonly SubmissionState[]>> = {
  queued: ["running", "joined", "settled"],
  running: ["settled"],
  joined: ["settled", "queued"],
  settled: [],
};

export function isAllowedTransition(from: SubmissionState, to: SubmissionState): boolean {
  return TRANSITIONS[from].includes(to);
}

export interface ImageAttachment {
  type: "image";
  /** Base64. */
  data: string;
  mimeType: string;
  filename?: string;
}

export interface UserDelivery {
  kind: "user";
  body: string;
  attachments?: ImageAttachment[];
}

export interface SignalDelivery {
  kind: "signal";
  type: string;
  body: string;
  attributes?: Record<string, string>;
  tagName?: string;
}

/** What a caller hands in: a message of a person, or a signal of a machine. */
export type DeliveredMessage = UserDelivery | SignalDelivery;

/** An attachment once its bytes are stored beside the record. */
export interface AttachmentRef {
  type: "image";
  /** `att_<kind>_<submissionId>_<index>`. */
  id: string;
  mimeType: string;
  /** Bytes. */
  size: number;
  filename?: string;
}

/** A delivered message as it is recorded: without the attachments' bytes. */
export type RecordedMessage = (Omit<UserDelivery, "attachments"> & { attachments?: AttachmentRef[] }) | SignalDelivery;

/** Signal types that only the runtime itself may write. */
export const RESERVED_SIGNAL_TYPES: readonly string[] = [
  "resources",
  "instructions",
  "environment",
  "stream_interrupted",
  "stream_continued",
  "submission_aborted",
  "submission_interrupted",
  "compaction",
  "memory",
];

/** How long a submission is kept at before it settles `failed`. */
export interface Durability {
  /** Attempts in a row without progress. */
  maxAttempts: number;
  /** Milliseconds from the first start. */
  timeoutMs: number;
}

/** W3C trace context of the admitting request. */
export interface TraceContext {
  traceparent: string;
  tracestate?: string;
}

export interface TokenUsage {
  input: number;
  output: number;
  cacheRead: number;
  cacheWrite: number;
  totalTokens: number;
  /** US dollars, from the model catalogue. */
  cost: number;
}

export interface Settlement {
  outcome: Outcome;
  error?: Fault;
  answeredBySubmissionId?: string;
}
