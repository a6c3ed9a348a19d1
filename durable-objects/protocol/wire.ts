/**
 * What readers of a conversation are sent: messages and settlements of a snapshot, chunks of an updates stream.
 *
 * The shapes are those the public clients reduce; field order and names follow the contract.
 *
 * Source: contract RUNTIME 1.7, 1.8.
 */
import type { Fault } from "./errors.ts";
import type { Outcome } from "./submission.ts";

export type WirePart =
  | { type: "text" | "reasoning"; text: string; state: "streaming" | "done" }
  | { type: "file"; mediaType: string; id?: string; size?: number; filename?: string }
  | {
      type: "dynamic-tool";
      toolName: string;
      toolCallId: string;
      state: "input-available" | "output-available" | "output-error";
      input: unknown;
      output?: unknown;
      errorText?: string;
      durationMs?: number;
    }
  | { type: `data-${string}`; data: unknown };

export interface WireMessage {
  id: string;
  role: "user" | "assistant" | "system";
  purpose: "user" | "assistant" | "dispatch" | "advisory";
  display: "visible" | "hidden" | "diagnostic";
  submissionId?: string;
  turnId?: string;
  signal?: { tagName?: string; attributes?: Record<string, string> };
  settlement?: { outcome: "failed" | "aborted" };
  parts: WirePart[];
  metadata?: Record<string, unknown>;
}

export interface WireSettlement {
  submissionId: string;
  outcome: Outcome;
  error?: Fault;
  answeredBySubmissionId?: string;
}

export interface WireSnapshot {
  v: 1;
  conversationId: string;
  offset: string;
  incarnation?: string;
  messages: WireMessage[];
  settlements: WireSettlement[];
}

export interface ChunkPosition {
  /** The record's number. */
  batch: number;
  /** Order within the record; the same position always means the same chunk. */
  index: number;
}

export interface ChunkHead {
  conversationId: string;
  position: ChunkPosition;
  /** ISO 8601; on boundary chunks. */
  timestamp?: string;
}

export type ConversationChunk =
  | (ChunkHead & { type: "conversation-reset"; snapshot: WireSnapshot })
  | (ChunkHead & { type: "message-appended"; message: WireMessage })
  | (ChunkHead & { type: "message-started"; messageId: string; submissionId?: string; turnId?: string })
  | (ChunkHead & { type: "message-delta"; messageId: string; kind: "text" | "reasoning"; delta: string })
  | (ChunkHead & { type: "message-metadata"; messageId: string; metadata: Record<string, unknown> })
  | (ChunkHead & { type: "data-part"; messageId: string; name: string; data: unknown })
  | (ChunkHead & { type: "tool-input"; messageId: string; toolCallId: string; toolName: string; input: unknown })
  | (ChunkHead & { type: "tool-output"; toolCallId: string; output: unknown; durationMs?: number })
  | (ChunkHead & { type: "tool-output-error"; toolCallId: string; errorText: string; durationMs?: number })
  | (ChunkHead & { type: "message-completed"; messageId: string })
  | (ChunkHead & {
      type: "submission-settled";
      submissionId: string;
      outcome: Outcome;
      error?: Fault;
      answeredBySubmissionId?: string;
    });

/** Tells a reader which generation of the stream it is reading; first on every connection. */
export interface CheckpointChunk {
  type: "stream-checkpoint";
  incarnation: string;
}

export type WireChunk = ConversationChunk | CheckpointChunk;
