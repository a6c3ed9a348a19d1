/**
 * The queue of admitted submissions, in admission order.
 *
 * Owns the table `submission`; the lifecycle (`submission-lifecycle.ts`) is the only caller that changes a state, always
 * together with the record that says so (Q4). Every change of state goes through `TRANSITIONS`.
 */
import {
  type DeliveredMessage,
  isAllowedTransition,
  type Outcome,
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
};

const COLUMNS = `seq, id, state, accepted_at, offset_seq, attempt, attempt_seq, fruitless_attempts, provider_retries,
  input_seq, started_at, deadline_at, resume_at, abort_at, settled_at, outcome`;

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
} as const satisfies Partial<Record<keyof Submission, string>>;

export type SubmissionChange = { [F in keyof typeof FIELD_COLUMNS]?: Submission[F] | null };

export interface NewSubmission {
  id: string;
  message: DeliveredMessage;
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
      `INSERT INTO submission (seq, id, state, input, accepted_at, offset_seq, trace, subject)
       VALUES (?, ?, 'queued', ?, ?, ?, ?, ?)`,
      next,
      submission.id,
      spillText(this.#db, `input:${next}`, JSON.stringify(submission.message)),
      submission.acceptedAt,
      submission.offsetSeq,
      submission.trace ? JSON.stringify(submission.trace) : null,
      submission.subject ?? null,
    );
  }

  /** The message as admitted, handed over once: from then on the journal holds it. */
  takeInput(submission: Submission): DeliveredMessage {
    const row = this.#db.all<{ input: string | null }>("SELECT input FROM submission WHERE seq = ?", submission.seq)[0];
    if (row?.input == null) throw new Error(`Submission ${submission.id} has no input left to apply.`);
    const owner = `input:${submission.seq}`;
    const message = JSON.parse(unspillText(this.#db, owner, row.input)) as DeliveredMessage;
    dropSpill(this.#db, owner, row.input);
    this.#db.run("UPDATE submission SET input = NULL WHERE seq = ?", submission.seq);
    return message;
  }

  running(): Submission | undefined {
    return this.#one("state = 'running'");
  }

  nextQueued(): Submission | undefined {
    return this.#one("state = 'queued' ORDER BY seq LIMIT 1");
  }

  find(id: string): Submission | undefined {
    return this.#one("id = ?", id);
  }

  countUnsettled(): number {
    return this.#db.all<{ n: number }>("SELECT COUNT(*) AS n FROM submission WHERE state <> 'settled'")[0]?.n ?? 0;
  }

  /** Marks every unsettled submission; one that was marked before keeps its time. Gives how many are unsettled. */
  requestAbort(at: number): number {
    this.#db.run("UPDATE submission SET abort_at = ? WHERE state <> 'settled' AND abort_at IS NULL", at);
    return this.countUnsettled();
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

  recordUsage(seq: number, usage: TokenUsage): void {
    this.#db.run("UPDATE submission SET usage = ? WHERE seq = ?", JSON.stringify(usage), seq);
  }

  #one(where: string, ...params: SqlValue[]): Submission | undefined {
    const row = this.#db.all<SubmissionRow>(`SELECT ${COLUMNS} FROM submission WHERE ${where}`, ...params)[0];
    return row && submissionOf(row);
  }
}
