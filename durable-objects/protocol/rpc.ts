/**
 * What the door may ask of a conversation. The two meet here and nowhere else.
 *
 * Expected faults come back as values: a class does not survive RPC, and a thrown error would be logged as a crash.
 * Streams and texts are ready bytes: the door adds status and headers and looks no further.
 */
import type { Fault } from "./errors.ts";
import type { DeliveredMessage, Outcome, SubmissionState, TokenUsage, TraceContext } from "./submission.ts";
import type { WireMessage, WireSettlement } from "./wire.ts";

export type Answer<T> = { ok: true; value: T } | { ok: false; error: Fault };

export interface Admission {
  agent: string;
  id: string;
  message: DeliveredMessage;
  /** Send condition: a string continues only that incarnation, `null` only creates. */
  uid?: string | null;
  /** Used only when this send creates the conversation. */
  initialData?: unknown;
  /** Makes a repeat of the same send harmless, for the conversation's life. */
  idempotencyKey?: string;
  trace?: TraceContext;
  /** Verified subject of the caller's token. */
  subject?: string;
}

/** What a caller gets once its message is durable. The door adds `streamUrl`. */
export interface Receipt {
  offset: string;
  submissionId: string;
  uid: string;
  /** The send was there already; this is its first receipt. */
  deduplicated?: true;
}

/** One submission as its caller may look at it. Times are milliseconds since the epoch. */
export interface SubmissionView {
  submissionId: string;
  state: SubmissionState;
  outcome?: Outcome;
  attempts: number;
  acceptedAt: number;
  startedAt?: number;
  deadlineAt?: number;
  settledAt?: number;
  abortRequestedAt?: number;
  /** The submission whose response it joined. */
  joinedInto?: string;
  usage?: TokenUsage;
  error?: Fault;
}

/** What runs and what waits, in order. */
export interface QueueView {
  running: SubmissionView | null;
  joined: SubmissionView[];
  queued: SubmissionView[];
  /** Of everything that has settled. */
  usage: TokenUsage;
}

/** A settled submission's outcome and the message that answered it. */
export interface SettledAnswer {
  settlement: WireSettlement;
  message?: WireMessage;
}

export interface HistoryPageQuery {
  /** Message id: what comes before it. Absent = the newest. */
  before?: string;
  /** Messages. */
  limit: number;
}

export type LiveMode = "none" | "long-poll" | "sse";

export interface UpdatesQuery {
  /** Exclusive: what was recorded after this record number. */
  after: number;
  live: LiveMode;
}

/** A body and the stream headers that go with it. `offset` and `upToDate` are absent on SSE. */
export interface ReadAnswer {
  body: string | ReadableStream<Uint8Array>;
  contentType: string;
  offset?: string;
  upToDate?: boolean;
}

export interface AttachmentAnswer {
  body: ReadableStream<Uint8Array>;
  mimeType: string;
  size: number;
}

export interface HeadAnswer {
  offset: string;
}

/** A frozen system prompt. */
export interface PromptView {
  /** 1 for the first; each compaction adds one. */
  epoch: number;
  /** Milliseconds since the epoch of time. */
  composedAt: number;
  /** Of the text in UTF-8, in hex. */
  sha256: string;
  text: string;
}

export interface ConversationRpc {
  /** A large admission comes as its JSON text in UTF-8: a string of RPC may count two bytes a unit. */
  admit(admission: Admission | Uint8Array): Promise<Answer<Receipt>>;
  /** Holds until the submission settles or `ms` are over; `null` then. A `SettledAnswer` as JSON text. */
  waitSettled(submissionId: string, ms: number): Promise<Answer<string | ReadableStream<Uint8Array> | null>>;
  readHistory(page?: HistoryPageQuery): Promise<Answer<ReadAnswer>>;
  readUpdates(query: UpdatesQuery): Promise<Answer<ReadAnswer>>;
  readHead(): Promise<Answer<HeadAnswer>>;
  readAttachment(attachmentId: string): Promise<Answer<AttachmentAnswer>>;
  readSubmission(submissionId: string): Promise<Answer<SubmissionView>>;
  readQueue(): Promise<Answer<QueueView>>;
  /** The newest prompt or that of an epoch; `null` where there is none. */
  readPrompt(epoch?: number): Promise<Answer<PromptView | null>>;
  abort(submissionId?: string): Promise<Answer<{ aborted: boolean }>>;
  /** Ends and erases everything; the next admission is a new incarnation. */
  erase(): Promise<Answer<null>>;
}
