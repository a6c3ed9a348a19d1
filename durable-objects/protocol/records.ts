/**
 * The journal's record types: everything a client or a recovery can see is one of these.
 *
 * One record is one durable batch; its `seq` is the number in the batch's offset and is never reused (J1). A completed
 * assistant message is the fact; its deltas are hints and are deleted in the transaction that writes it (J2).
 *
 * Source: contract RUNTIME 1.7, 1.8, 2.5, 2.6.
 */
import type { AssistantMessage } from "@earendil-works/pi-ai";
import type { Fault } from "./errors.ts";
import type { Outcome, RecordedMessage, TokenUsage } from "./submission.ts";

/** The conversation came to be. */
export interface BirthRecord {
  type: "birth";
  uid: string;
  incarnation: string;
  agent: string;
  id: string;
  /** Kind of sandbox the deployment had at birth. */
  sandbox: string;
  initialData?: unknown;
}

/** A submission's message reached the transcript: its own response starts, or it joined a live one. */
export interface InputRecord {
  type: "input";
  submissionId: string;
  message: RecordedMessage;
}

/** A piece of an assistant message that is still being written. */
export interface DeltaRecord {
  type: "delta";
  submissionId: string;
  turnId: string;
  kind: "text" | "reasoning";
  text: string;
  /** The step's first piece: readers are told that the message started. */
  first?: true;
}

/**
 * Where a response stands among messages that were recorded while its first step was being written: without it, who comes
 * when the deltas are gone would find the response behind them. Also stands before the first data part or metadata of a
 * response that has shown nothing yet: readers take those only for a message they know.
 */
export interface ResponseStartedRecord {
  type: "response_started";
  submissionId: string;
  /** Absent before the first step. */
  turnId?: string;
}

/** A named piece of data for readers; a later one of its name takes its place in the message. */
export interface DataRecord {
  type: "data";
  submissionId: string;
  name: string;
  data: unknown;
}

/** What response hooks attached to the message of the response: plain JSON, merged into what is there. */
export interface MetadataRecord {
  type: "metadata";
  submissionId: string;
  seam: "response_start" | "response_finish";
  metadata: Record<string, unknown>;
}

/**
 * The start callbacks of a delivered message have run, with what they wrote: at most one a message, for ever. It carries
 * the id of the message's own submission, whichever response the message is in.
 */
export interface AgentStartRunRecord {
  type: "agent_start_run";
  submissionId: string;
}

/** The finish callbacks of one would-stop point have run, with what they wrote. */
export interface AgentFinishCycleRecord {
  type: "agent_finish_cycle";
  submissionId: string;
  /** They appended signals: the response goes on. */
  continues?: true;
  /** Response-finish callbacks were declared: only an attempt can settle the response, for they run as it settles. */
  responseFinish?: true;
}

/** The deltas a message had before it was completed, so that a reader who stood among them can be told what is missing. */
export interface DeltaSpan {
  firstSeq: number;
  lastSeq: number;
  /** What came after the last delta: all that a reader of every delta still lacks. */
  tail: { kind: "text" | "reasoning"; text: string }[];
}

/** One model step, complete; `interrupted` when a crash or an abort cut it and only the text so far is known. */
export interface AssistantRecord {
  type: "assistant";
  submissionId: string;
  turnId: string;
  message: AssistantMessage;
  deltas?: DeltaSpan;
  interrupted?: true;
  /** Made under a render with finish hooks: the response is complete only with a closing finish cycle behind the step. */
  awaitsFinish?: true;
}

/** The model step that was being written is withdrawn: a transient provider fault, to be tried again. */
export interface AssistantDiscardedRecord {
  type: "assistant_discarded";
  submissionId: string;
  turnId: string;
  reason: string;
  deltas?: DeltaSpan;
}

/**
 * The provider refused the images recorded before this: from here on the model is shown a text in the place of each, in
 * every later request too, so that they all begin alike.
 */
export interface ImagesOmittedRecord {
  type: "images_omitted";
  submissionId: string;
}

/** Durable before the tool runs (T2); the arguments stand in the assistant record. */
export interface ToolStartedRecord {
  type: "tool_started";
  submissionId: string;
  toolCallId: string;
  toolName: string;
  attempt: number;
}

/** What a write is about to make of a file: durable before it (T2), so that a crash in between can be told apart. */
export interface ToolIntentRecord {
  type: "tool_intent";
  submissionId: string;
  toolCallId: string;
  path: string;
  /** SHA-256 of the file before; absent when there was none. */
  before?: string;
  /** SHA-256 of the content to come. */
  after: string;
  /** The ordinary result, should the write turn out to be done. */
  result: { text: string; details: unknown };
}

/** The outcome of one `step.do` of a durable tool, replayed when the call is run again. */
export interface ToolStepRecord {
  type: "tool_step";
  submissionId: string;
  toolCallId: string;
  name: string;
  output?: unknown;
}

/** Durable once; a call with a result never runs again (T2). */
export interface ToolResultRecord {
  type: "tool_result";
  submissionId: string;
  toolCallId: string;
  toolName: string;
  text: string;
  isError: boolean;
  details?: unknown;
  durationMs?: number;
  terminate?: true;
}

/** What a compaction made of the transcript; the body of its signal is the summary. Source: contract RUNTIME 6. */
export interface CompactionFacts {
  reason: "threshold" | "overflow" | "manual";
  /** First record that still stands as it was; what comes before it is in the summary. */
  keptFromSeq: number;
  /** Messages before it that stand verbatim behind the summary: those of the running submission. */
  carriedSeqs: readonly number[];
  /** UTF-16 units that are left of tool results too large for the kept part, by call id. */
  clips: Readonly<Record<string, number>>;
  /** Files that were read and changed, earlier compactions included. */
  readFiles: readonly string[];
  modifiedFiles: readonly string[];
  /** Tokens of the request before and after, as far as known. */
  tokensBefore: number;
  tokensAfter: number;
  messagesBefore: number;
  messagesAfter: number;
  durationMs: number;
  /** Of the requests that made the summary. */
  usage: TokenUsage;
}

/** A message of the runtime itself to the model and to clients, or one that an event hook appended. */
export interface SignalRecord {
  type: "signal";
  submissionId?: string;
  signalType: string;
  body: string;
  attributes?: Record<string, string>;
  tagName?: string;
  /** Absent: the runtime's own. */
  appendedBy?: "agent_start" | "agent_finish";
  /** Present on the record of a compaction, which stands for everything before `keptFromSeq`. */
  compaction?: CompactionFacts;
}

/** The one terminal record of a submission (Q3). */
export interface SettledRecord {
  type: "settled";
  submissionId: string;
  outcome: Outcome;
  error?: Fault;
  answeredBySubmissionId?: string;
}

export type RecordBody =
  | BirthRecord
  | InputRecord
  | DeltaRecord
  | ResponseStartedRecord
  | AssistantRecord
  | AssistantDiscardedRecord
  | ImagesOmittedRecord
  | ToolStartedRecord
  | ToolIntentRecord
  | ToolStepRecord
  | ToolResultRecord
  | SignalRecord
  | DataRecord
  | MetadataRecord
  | AgentStartRunRecord
  | AgentFinishCycleRecord
  | SettledRecord;

export type RecordType = RecordBody["type"];

/** A body as stored: its number, its time, and the thread it belongs to (`""` is the root conversation). */
export interface StoredRecord<B extends RecordBody = RecordBody> {
  seq: number;
  /** Milliseconds since the epoch. */
  at: number;
  thread: string;
  body: B;
}

export const ROOT_THREAD = "";

export function isRecordOf<T extends RecordType>(
  record: StoredRecord,
  type: T,
): record is StoredRecord<Extract<RecordBody, { type: T }>> {
  return record.body.type === type;
}
