/**
 * What one attempt may use, and how it ends. `turn/` knows these ports and no SQL.
 */
import type { Sandbox, SandboxFactory } from "../../../containers/sandbox.ts";
import type { RenderedAgent } from "../../agent/agent.ts";
import type { ResolvedModel } from "../../models/model.ts";
import type { Clock, Timers } from "../../protocol/clock.ts";
import type { Fault } from "../../protocol/errors.ts";
import type { Ids } from "../../protocol/ids.ts";
import type { RecordBody, StoredRecord } from "../../protocol/records.ts";
import type { Surface } from "../../protocol/surface.ts";
import type { PathLocks } from "../../tools/path-lock.ts";

export type AttemptEnd =
  /** The response is complete and settled. */
  | { kind: "settled" }
  | { kind: "failed"; fault: Fault }
  /** A transient provider fault: go on from the records after a wait. */
  | { kind: "retry"; afterMs: number }
  /** Cut by abort or deadline; the supervisor knows which. */
  | { kind: "cut" }
  /** Overtaken by another attempt: nothing more to say. */
  | { kind: "stale" };

/** The attempt's fenced pen: every write throws once another attempt holds the submission. */
export interface AttemptJournal {
  append(bodies: readonly RecordBody[]): StoredRecord[];
  /** What the model's transcript is made of, after a record number, in order. */
  readTranscript(after: number): StoredRecord[];
  /** All records of the submission, hints included. */
  readSubmission(): StoredRecord[];
  hasToolCall(toolCallId: string): boolean;
  readonly isWatched: boolean;
}

/** A conversation beside the root's, in the same journal and under the same attempt: what is its own. */
export interface ThreadPorts {
  journal: AttemptJournal;
  /** The conversation's sandbox, the keys of its commands under the thread's name. */
  openSandbox(factory: SandboxFactory, cwd: string | undefined): Promise<Sandbox>;
}

export interface PromptPort {
  /** The frozen prompt's text, or nothing before the first contact. */
  read(): string | undefined;
  /**
   * Stores the text as the first epoch, with what it tells the model it has; throws `StaleAttemptError` when the attempt
   * was overtaken.
   */
  freeze(text: string, told: Surface): void;
}

/** What the model was last told it has, and which file system its sandbox had when it was last looked at. */
export interface EnvironmentPort {
  readTold(): Surface | undefined;
  readGeneration(): string | undefined;
  /** Stores what is given and appends the records that tell it, in one transaction; throws when overtaken. */
  note(noted: { surface?: Surface; generation?: string }, told: readonly RecordBody[]): void;
}

export interface AttemptPorts {
  submissionId: string;
  attempt: number;
  /** Transient provider faults in a row before this attempt. */
  providerRetries: number;
  clearProviderRetries(): void;
  signal: AbortSignal;
  /** What waits joins the response: it reaches the model with the next request. */
  joinQueued(): void;
  /** At the point where the response would stop: it goes on with what joined, or it is settled. */
  joinOrComplete(): "joined" | "settled";
  /** Bytes of an attachment in base64. */
  readAttachment(id: string): string | undefined;
  journal: AttemptJournal;
  prompt: PromptPort;
  environment: EnvironmentPort;
  render(): RenderedAgent;
  resolveModel(spec: string): ResolvedModel;
  /** Opens the conversation's sandbox once; later calls give the same one. */
  openSandbox(factory: SandboxFactory, cwd: string | undefined): Promise<Sandbox>;
  /** Opens a thread, new or known, by its name. */
  openThread(name: string): ThreadPorts;
  locks: PathLocks;
  clock: Clock;
  timers: Timers;
  ids: Ids;
  /** A number in [0, 1), for jitter. */
  random(): number;
}
