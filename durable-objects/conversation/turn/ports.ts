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
import type { TokenUsage } from "../../protocol/submission.ts";
import type { Surface } from "../../protocol/surface.ts";
import type { WorkspaceSkill } from "../../skills/skill.ts";
import type { PathLocks } from "../../tools/path-lock.ts";
import type { Standing } from "../recovery/standing.ts";

export type AttemptEnd =
  /** The response is complete and settled. */
  | { kind: "settled" }
  | { kind: "failed"; fault: Fault }
  /** A transient provider fault: go on from the records after a wait. */
  | { kind: "retry"; afterMs: number; reason: string }
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
   * Stores the text as the first epoch, with what it tells the model it has and the skills that were found in the
   * workspace, in one transaction; throws `StaleAttemptError` when the attempt was overtaken.
   */
  freeze(text: string, told: Surface, workspaceSkills: readonly WorkspaceSkill[]): void;
  /** Stores the text as the next epoch together with the record of the compaction that asks for it. */
  rebase(text: string, told: Surface, workspaceSkills: readonly WorkspaceSkill[], compaction: RecordBody): void;
}

/** What the model was last told it has, and which file system its sandbox had when it was last looked at. */
export interface EnvironmentPort {
  readTold(): Surface | undefined;
  readGeneration(): string | undefined;
  /** As they were found last. */
  readWorkspaceSkills(): readonly WorkspaceSkill[];
  /** Whether a tool has run since the workspace was looked at: what it holds may be another. */
  isWorkspaceUsed(): boolean;
  /** Stores what is given and appends the records that tell it, in one transaction; throws when overtaken. */
  note(noted: EnvironmentNote, told: readonly RecordBody[]): void;
}

export interface EnvironmentNote {
  surface?: Surface;
  generation?: string;
  workspaceSkills?: readonly WorkspaceSkill[];
}

/** A stretch of agent code whose writes become durable together, or not at all. */
export interface Seam {
  readonly isOpen: boolean;
}

/** Where the writes of agent code are held until the record that ends their seam takes them with it. */
export interface SeamPort {
  open(): Seam;
  /** The `tool_result` record of the call takes the writes with it. */
  openCall(toolCallId: string): Seam;
  /** What `work` writes, also after an `await`, belongs to the seam. */
  run<T>(seam: Seam, work: () => T): T;
  /** From now on writes throw. */
  close(seam: Seam): void;
  /** Closes; what was written never was. */
  discard(seam: Seam): void;
  /** Stores the records and what the seams wrote in one transaction; throws `StaleAttemptError` when overtaken. */
  commit(seams: readonly Seam[], bodies: readonly RecordBody[]): void;
}

/** A message of the response, as it stands on record. */
export interface Delivery {
  submissionId: string;
  seq: number;
}

/** What the event hooks of an agent need of the records. */
export interface ResponsePort {
  /** The messages of the response in the order the model reads them: its own, then those that joined. */
  deliveries(): Delivery[];
  /** Whether the start callbacks of a message have run, in this response or an earlier one. */
  hasStartRun(submissionId: string): boolean;
  readStanding(): Standing;
  readUsage(): TokenUsage;
  /** Appends records that readers see in the response's message, which begins with them if it has shown nothing yet. */
  append(bodies: readonly RecordBody[]): void;
}

/** Gives the records that go into the transaction that settles the response. */
export type RenderLastRecords = () => RecordBody[];

export interface AttemptPorts {
  submissionId: string;
  /** The name the agent is served under. */
  agent: string;
  attempt: number;
  /** Names the conversation to a provider's cache. */
  sessionId: string;
  /** Transient provider faults in a row before this attempt. */
  providerRetries: number;
  clearProviderRetries(): void;
  signal: AbortSignal;
  /** What waits joins the response: it reaches the model with the next request. */
  joinQueued(): void;
  /** At the point where the response would stop: it goes on with what joined, or it is settled. */
  joinOrComplete(lastRecords?: RenderLastRecords): "joined" | "settled";
  response: ResponsePort;
  seams: SeamPort;
  /** Bytes of an attachment in base64. */
  readAttachment(id: string): string | undefined;
  journal: AttemptJournal;
  prompt: PromptPort;
  environment: EnvironmentPort;
  /** @param delivery the message in front of the model; absent: the newest. */
  render(delivery?: Delivery): RenderedAgent;
  resolveModel(spec: string): ResolvedModel;
  /** Opens the conversation's sandbox once; later calls give the same one. */
  openSandbox(factory: SandboxFactory, cwd: string | undefined): Promise<Sandbox>;
  /** Opens a thread, new or known, by its name. */
  openThread(name: string): ThreadPorts;
  locks: PathLocks;
  clock: Clock;
  timers: Timers;
  ids: Ids;
  /** One event for the log. */
  report(event: string, fields: Record<string, unknown>): void;
  /** A number in [0, 1), for jitter. */
  random(): number;
}
