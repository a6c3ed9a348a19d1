/**
 * Every change of a submission's state, each in one transaction with the record that says so (Q4): birth and admission,
 * start, a new attempt, a durable wait, settlement. The only file that writes both tables.
 *
 * An attempt's own writes go through `attemptLog`, which refuses them once another attempt holds the row (Q5).
 *
 * Source: contract RUNTIME 2.1 to 2.5, 2.8.
 */
import type { Clock } from "../protocol/clock.ts";
import { BerthError, type Fault, faultOf } from "../protocol/errors.ts";
import type { Ids } from "../protocol/ids.ts";
import { MAX_UNSETTLED_SUBMISSIONS, SUBMISSION_TIMEOUT_MS } from "../protocol/limits.ts";
import { renderOffset } from "../protocol/offset.ts";
import { type RecordBody, ROOT_THREAD, type StoredRecord } from "../protocol/records.ts";
import type { Admission, Receipt } from "../protocol/rpc.ts";
import type { Outcome } from "../protocol/submission.ts";
import { closingRecords } from "./recovery/closing-records.ts";
import { standingOf } from "./recovery/standing.ts";
import type { Database } from "./store/database.ts";
import { type Instance, insertInstance, readInstance } from "./store/instance.ts";
import type { Journal } from "./store/journal.ts";
import { migrate } from "./store/migrations.ts";
import type { Submission, SubmissionQueue } from "./store/submission-queue.ts";
import { sumUsage } from "./usage.ts";

/** Another attempt holds the submission now, or it has settled: the writer must stop. */
export class StaleAttemptError extends Error {
  constructor(submissionId: string, attempt: number) {
    super(`Attempt ${attempt} of ${submissionId} may no longer write.`);
    this.name = "StaleAttemptError";
  }
}

export interface AttemptLog {
  /** All bodies in one transaction; throws `StaleAttemptError` when the attempt was overtaken. */
  append(bodies: readonly RecordBody[]): StoredRecord[];
  /** Any other write of the attempt, under the same fence. */
  write(work: () => void): void;
}

export interface LifecycleParts {
  db: Database;
  journal: Journal;
  queue: SubmissionQueue;
  clock: Clock;
  ids: Ids;
  /** Kind of sandbox the deployment offers; recorded at birth. */
  sandboxKind: string;
}

export class SubmissionLifecycle {
  readonly #parts: LifecycleParts;

  constructor(parts: LifecycleParts) {
    this.#parts = parts;
  }

  /** Makes the input durable; the caller may be told so once the transaction is in. Throws `BerthError`. */
  admit(admission: Admission): Receipt {
    const { db, journal, queue, clock, ids } = this.#parts;
    migrate(db);
    return db.transaction(() => {
      if (queue.countUnsettled() >= MAX_UNSETTLED_SUBMISSIONS) {
        throw new BerthError("too_many_requests", "Too many messages of this conversation are waiting.", {
          details: `At most ${MAX_UNSETTLED_SUBMISSIONS} submissions may be unsettled; wait for some to settle.`,
        });
      }
      const instance = readInstance(db) ?? this.#bear(admission);
      const submissionId = ids.next("sub");
      const offsetSeq = journal.head();
      queue.insert({
        id: submissionId,
        message: admission.message,
        acceptedAt: clock.now(),
        offsetSeq,
        ...(admission.trace && { trace: admission.trace }),
        ...(admission.subject !== undefined && { subject: admission.subject }),
      });
      return { offset: renderOffset(offsetSeq), submissionId, uid: instance.uid };
    });
  }

  /** The queued submission becomes the running one; its message reaches the transcript. */
  start(submission: Submission): Submission {
    const { db, journal, queue, clock } = this.#parts;
    return db.transaction(() => {
      const now = clock.now();
      const attemptSeq = journal.head();
      const message = queue.takeInput(submission);
      const input = journal.append(ROOT_THREAD, { type: "input", submissionId: submission.id, message });
      const change = {
        attempt: 1,
        attemptSeq,
        inputSeq: input.seq,
        startedAt: now,
        deadlineAt: now + SUBMISSION_TIMEOUT_MS,
      };
      queue.move(submission, "running", change);
      return { ...submission, ...change, state: "running" as const };
    });
  }

  /** Hands the running submission to a new attempt; the one before may write no more. */
  beginAttempt(submission: Submission, fruitlessAttempts: number): Submission {
    const { journal, queue } = this.#parts;
    const change = {
      attempt: submission.attempt + 1,
      attemptSeq: journal.head(),
      fruitlessAttempts,
      resumeAt: null,
    };
    queue.change(submission.seq, change);
    const { resumeAt: _over, ...rest } = submission;
    return { ...rest, attempt: change.attempt, attemptSeq: change.attemptSeq, fruitlessAttempts };
  }

  /** The attempt gives up its place until `resumeAt`: a wait that survives a crash. */
  postpone(submission: Submission, resumeAt: number, providerRetries: number): void {
    const { db, queue } = this.#parts;
    db.transaction(() => {
      this.#requireAttempt(submission);
      queue.change(submission.seq, { resumeAt, providerRetries });
    });
  }

  /** The running submission ends; `submission` must hold the attempt that ends it. */
  settleRunning(submission: Submission, outcome: Outcome, fault?: Fault): void {
    const { db, journal, queue, clock } = this.#parts;
    db.transaction(() => {
      this.#requireAttempt(submission);
      const records = this.recordsOf(submission);
      const standing = standingOf(records);
      const closing = outcome === "completed" ? [] : closingRecords(submission.id, standing, outcome, fault);
      for (const body of closing) journal.append(ROOT_THREAD, body);
      journal.append(ROOT_THREAD, {
        type: "settled",
        submissionId: submission.id,
        outcome,
        ...(fault && { error: fault }),
      });
      queue.move(submission, "settled", { outcome, settledAt: clock.now(), resumeAt: null });
      const usage = sumUsage(records);
      if (usage) queue.recordUsage(submission.seq, usage);
    });
  }

  /** A submission ends without having run: its input is recorded with its settlement. */
  settleQueued(submission: Submission, outcome: Exclude<Outcome, "completed">, fault?: Fault): void {
    const { db, journal, queue, clock } = this.#parts;
    db.transaction(() => {
      const message = queue.takeInput(submission);
      const input = journal.append(ROOT_THREAD, { type: "input", submissionId: submission.id, message });
      const untouched = { openCalls: [], completed: false };
      for (const body of closingRecords(submission.id, untouched, outcome, fault)) journal.append(ROOT_THREAD, body);
      journal.append(ROOT_THREAD, {
        type: "settled",
        submissionId: submission.id,
        outcome,
        ...(fault && { error: fault }),
      });
      queue.move(submission, "settled", { outcome, settledAt: clock.now(), inputSeq: input.seq });
    });
  }

  recordsOf(submission: Submission): StoredRecord[] {
    return this.#parts.journal.readSubmission(ROOT_THREAD, submission.id, submission.inputSeq ?? 0);
  }

  attemptLog(submission: Submission): AttemptLog {
    const { db, journal } = this.#parts;
    return {
      append: (bodies) =>
        db.transaction(() => {
          this.#requireAttempt(submission);
          return bodies.map((body) => journal.append(ROOT_THREAD, body));
        }),
      write: (work) =>
        db.transaction(() => {
          this.#requireAttempt(submission);
          work();
        }),
    };
  }

  #bear(admission: Admission): Instance {
    const { db, journal, ids, sandboxKind } = this.#parts;
    const instance: Instance = {
      uid: ids.next("inst"),
      incarnation: ids.next("inc"),
      agent: admission.agent,
      id: admission.id,
    };
    insertInstance(db, instance);
    journal.append(ROOT_THREAD, { type: "birth", ...instance, sandbox: sandboxKind });
    return instance;
  }

  #requireAttempt(submission: Submission): void {
    const holder = this.#parts.queue.running();
    if (holder?.id !== submission.id || holder.attempt !== submission.attempt) {
      throw new StaleAttemptError(submission.id, submission.attempt);
    }
  }
}

/** The fault a settlement shows for an error of ours or of an agent's code: never a stack. */
export function settlementFault(error: unknown): Fault {
  if (error instanceof BerthError) return faultOf(error);
  return { type: "operation_failed", message: error instanceof Error ? error.message : String(error) };
}
