/**
 * The queue of admitted submissions, in admission order.
 *
 * Owns the table `submission`; the lifecycle (`submission-lifecycle.ts`) is the only caller that changes a state, always
 * together with the record that says so (Q4). Every change of state goes through `TRANSITIONS`.
 */
import {
  isAllowedTransition,
  type Outcome,
  type RecordedMessage,
  type SubmissionState,
  type TokenUsage,
  type TraceContext,
} from "../../protocol/submission.ts";
import type { Database, SqlValue } from "./database.ts";
import { dropSpill, spillText, unspillText } from "./spill.ts";

export interface Submission {
  seq: number;
  id: string;
  state: SubmissionState;
  acceptedAt: number;
  /** Head of the journal at admission: the receipt's offset. */
  offsetSeq: number;
  /** Number of the attempt that may write; 0 before the first. */
  attempt: number;
  /** Head of the journal when that attempt began. */
  attemptSeq: number;
  /** Attempts in a row that recorded no progress. */
  fruitlessAttempts: number;
  /** Transient provider faults in a row. */
  providerRetries: number;
  /** The submission's first record, once its input was applied. */
  inputSeq?: number;
  startedAt?: number;
  deadlineAt?: number;
  /** Not to be run before then: a durable wait. */
  resumeAt?: number;
  /** When an abort was asked for. */
  abortAt?: number;
  settledAt?: number;
  outcome?: Outcome;
  /** The submission whose response it joined. */
  joinedInto?: string;
  /** Hash of what a keyed send stands for. */
  identity?: string;
}

type SubmissionRow = {
  seq: number;
  id: string;
  state: string;
  accepted_at: number;
  offset_seq: number;
  attempt: number;
  attempt_seq: number;
  fruitless_attempts: number;
  provider_retries: number;
  input_seq: number | null;
  started_at: number | null;
  deadline_at: number | null;
  resume_at: number | null;
  abort_at: number | null;
  settled_at: number | null;
  outcome: string | null;
  joined_into: string | null;
  identity: string | null;
};

const COLUMNS = `seq, id, state, accepted_at, offset_seq, attempt, attempt_seq, fruitless_attempts, provider_retries,
  input_seq, started_at, deadline_at, resume_at, abort_at, settled_at, outcome, joined_into, identity`;

/** Fields that may change, and the columns they live in. */
const FIELD_COLUMNS = {
  attempt: "attempt",
  attemptSeq: "attempt_seq",
  fruitlessAttempts: "fruitless_attempts",
  providerRetries: "provider_retries",
  inputSeq: "input_seq",
  startedAt: "started_at",
  deadlineAt: "deadline_at",
  resumeAt: "resume_at",
  abortAt: "abort_at",
  settledAt: "settled_at",
  outcome: "outcome",
  joinedInto: "joined_into",
} as const satisfies Partial<Record<keyof Submission, string>>;

export type SubmissionChange = { [F in keyof typeof FIELD_COLUMNS]?: Submission[F] | null };

export interface NewSubmission {
  id: string;
  message: RecordedMessage;
  identity?: string;
  acceptedAt: number;
  offsetSeq: number;
  trace?: TraceContext;
  subject?: string;
}

function submissionOf(row: SubmissionRow): Submission {
  const submission: Submission = {
    seq: row.seq,
    id: row.id,
    state: row.state as SubmissionState,
    acceptedAt: row.accepted_at,
    offsetSeq: row.offset_seq,
    attempt: row.attempt,
    attemptSeq: row.attempt_seq,
    fruitlessAttempts: row.fruitless_attempts,
    providerRetries: row.provider_retries,
  };
  if (row.input_seq !== null) submission.inputSeq = row.input_seq;
  if (row.started_at !== null) submission.startedAt = row.started_at;
  if (row.deadline_at !== null) submission.deadlineAt = row.deadline_at;
  if (row.resume_at !== null) submission.resumeAt = row.resume_at;
  if (row.abort_at !== null) submission.abortAt = row.abort_at;
  if (row.settled_at !== null) submission.settledAt = row.settled_at;
  if (row.outcome !== null) submission.outcome = row.outcome as Outcome;
  if (row.joined_into !== null) submission.joinedInto = row.joined_into;
  if (row.identity !== null) submission.identity = row.identity;
  return submission;
}

export class SubmissionQueue {
  readonly #db: Database;

  constructor(db: Database) {
    this.#db = db;
  }

  insert(submission: NewSubmission): void {
    const next = (this.#db.all<{ last: number | null }>("SELECT MAX(seq) AS last FROM submission")[0]?.last ?? 0) + 1;
    this.#db.run(
      `INSERT INTO submission (seq, id, state, input, accepted_at, offset_seq, trace, subject, identity)
       VALUES (?, ?, 'queued', ?, ?, ?, ?, ?, ?)`,
      next,
      submission.id,
      spillText(this.#db, `input:${next}`, JSON.stringify(submission.message)),
      submission.acceptedAt,
      submission.offsetSeq,
      submission.trace ? JSON.stringify(submission.trace) : null,
      submission.subject ?? null,
      submission.identity ?? null,
    );
  }

  /**
   * The message as admitted, handed over once: from then on the journal holds it. A cell that holds no message (storage
   * that was tampered with) is handed over as the text it is, marked malformed.
   */
  takeInput(submission: Submission): { message: RecordedMessage; isMalformed: boolean } {
    const row = this.#db.all<{ input: string | null }>("SELECT input FROM submission WHERE seq = ?", submission.seq)[0];
    if (row?.input == null) throw new Error(`Submission ${submission.id} has no input left to apply.`);
    const owner = `input:${submission.seq}`;
    const text = unspillText(this.#db, owner, row.input);
    dropSpill(this.#db, owner, row.input);
    this.#db.run("UPDATE submission SET input = NULL WHERE seq = ?", submission.seq);
    try {
      return { message: JSON.parse(text) as RecordedMessage, isMalformed: false };
    } catch {
      return { message: { kind: "user", body: text }, isMalformed: true };
    }
  }

  running(): Submission | undefined {
    return this.#one("state = 'running' LIMIT 1");
  }

  nextQueued(): Submission | undefined {
    return this.#one("state = 'queued' ORDER BY seq LIMIT 1");
  }

  find(id: string): Submission | undefined {
    return this.#one("id = ? LIMIT 1", id);
  }

  /** All that wait, in order. */
  queued(): Submission[] {
    return this.#many("state = 'queued' ORDER BY seq");
  }

  /** Those that joined a response and are not settled, in order. */
  joinedInto(hostId: string): Submission[] {
    return this.#many("state = 'joined' AND joined_into = ? ORDER BY seq", hostId);
  }

  /** Queued ones whose abort was asked for: they need not wait for their turn to end. */
  queuedAborts(): Submission[] {
    return this.#many("state = 'queued' AND abort_at IS NOT NULL ORDER BY seq");
  }

  countUnsettled(): number {
    return this.#db.all<{ n: number }>("SELECT COUNT(*) AS n FROM submission WHERE state <> 'settled'")[0]?.n ?? 0;
  }

  /** Marks every unsettled submission, or the one named; one that was marked before keeps its time. */
  requestAbort(at: number, id?: string): void {
    const which = id === undefined ? "" : " AND id = ?";
    const params: SqlValue[] = id === undefined ? [at] : [at, id];
    this.#db.run(`UPDATE submission SET abort_at = ? WHERE state <> 'settled' AND abort_at IS NULL${which}`, ...params);
  }

  change(seq: number, change: SubmissionChange): void {
    const names = Object.keys(change) as (keyof SubmissionChange)[];
    const values: SqlValue[] = names.map((name) => change[name] ?? null);
    const assignments = names.map((name) => `${FIELD_COLUMNS[name]} = ?`).join(", ");
    this.#db.run(`UPDATE submission SET ${assignments} WHERE seq = ?`, ...values, seq);
  }

  move(submission: Submission, to: SubmissionState, change: SubmissionChange): void {
    if (!isAllowedTransition(submission.state, to)) {
      throw new Error(`Submission ${submission.id} cannot go from ${submission.state} to ${to}.`);
    }
    this.#db.run("UPDATE submission SET state = ? WHERE seq = ?", to, submission.seq);
    this.change(submission.seq, change);
  }

  readUsage(seq: number): TokenUsage | undefined {
    const row = this.#db.all<{ usage: string | null }>("SELECT usage FROM submission WHERE seq = ?", seq)[0];
    return row?.usage == null ? undefined : (JSON.parse(row.usage) as TokenUsage);
  }

  recordUsage(seq: number, usage: TokenUsage): void {
    this.#db.run("UPDATE submission SET usage = ? WHERE seq = ?", JSON.stringify(usage), seq);
  }

  #one(where: string, ...params: SqlValue[]): Submission | undefined {
    return this.#many(where, ...params)[0];
  }

  #many(where: string, ...params: SqlValue[]): Submission[] {
    const rows = this.#db.all<SubmissionRow>(`SELECT ${COLUMNS} FROM submission WHERE ${where}`, ...params);
    return rows.map(submissionOf);
  }
}
