/**
 * Every change of a submission's state after its admission, each in one transaction with the record that says so (Q4):
 * start, join, a new attempt, a durable wait, settlement. The only file that writes both tables.
 *
 * An attempt's own writes go through `attemptLog`, which refuses them once another attempt holds the row (Q5).
 *
 * Source: contract RUNTIME 2.1 to 2.5, 2.8.
 */
import type { Clock } from "../protocol/clock.ts";
import { BerthError, type Fault, faultOf } from "../protocol/errors.ts";
import { isRecordOf, type RecordBody, ROOT_THREAD, type StoredRecord } from "../protocol/records.ts";
import type { Durability, Outcome, TokenUsage } from "../protocol/submission.ts";
import { closingRecords, openWorkRecords } from "./recovery/closing-records.ts";
import { type Standing, standingOf } from "./recovery/standing.ts";
import type { Database } from "./store/database.ts";
import type { Journal } from "./store/journal.ts";
import type { Submission, SubmissionQueue } from "./store/submission-queue.ts";
import type { UsageTotal } from "./store/usage-total.ts";
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
  append(bodies: readonly RecordBody[], thread?: string): StoredRecord[];
  /** Any other write of the attempt, under the same fence. */
  write<T>(work: () => T): T;
}

export interface LifecycleParts {
  db: Database;
  journal: Journal;
  queue: SubmissionQueue;
  usageTotal: UsageTotal;
  clock: Clock;
  readDurability(): Durability;
}

export const ABORTED: Fault = { type: "submission_aborted", message: "The submission was aborted." };
const MALFORMED: Fault = { type: "operation_failed", message: "The stored message could not be read." };

export class SubmissionLifecycle {
  readonly #parts: LifecycleParts;

  constructor(parts: LifecycleParts) {
    this.#parts = parts;
  }

  /** The queued submission becomes the running one. A message that cannot be read settles it at once: `undefined`. */
  start(submission: Submission): Submission | undefined {
    const { db, journal, queue, clock } = this.#parts;
    return db.transaction(() => {
      const now = clock.now();
      const attemptSeq = journal.head();
      const input = this.#applyInput(submission);
      if (input.isMalformed) {
        this.#settle({ ...submission, inputSeq: input.seq }, "failed", MALFORMED);
        return undefined;
      }
      const change = {
        attempt: submission.attempt + 1,
        attemptSeq,
        inputSeq: input.seq,
        startedAt: now,
        deadlineAt: now + this.#parts.readDurability().timeoutMs,
      };
      queue.move(submission, "running", change);
      return { ...submission, ...change, state: "running" as const };
    });
  }

  /** All that wait join the running response, in order; the model reads them with its next request. */
  joinQueued(host: Submission): void {
    const { db, queue } = this.#parts;
    const waiting = queue.queued().filter((submission) => submission.abortAt === undefined);
    if (waiting.length === 0) return;
    db.transaction(() => {
      this.#requireAttempt(host);
      for (const submission of waiting) {
        const input = this.#applyInput(submission);
        if (input.isMalformed) this.#settle({ ...submission, inputSeq: input.seq }, "failed", MALFORMED);
        else queue.move(submission, "joined", { joinedInto: host.id, inputSeq: input.seq });
      }
    });
  }

  /**
   * Where the response would stop: what waits joins it, or it settles `completed`, in one transaction, so that no message
   * falls between the two.
   */
  joinOrComplete(host: Submission, lastRecords?: () => RecordBody[]): "joined" | "settled" {
    return this.#parts.db.transaction(() => {
      this.#requireAttempt(host);
      this.joinQueued(host);
      const { completed, isFinishClosed } = this.standingOf(host);
      // What response hooks attach as the response settles can only come from an attempt.
      if (!completed && !(isFinishClosed && lastRecords)) return "joined";
      for (const body of lastRecords?.() ?? []) this.#parts.journal.append(ROOT_THREAD, body);
      this.settleRunning(host, "completed");
      return "settled";
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

  /** The running submission ends, and with it those that joined; `submission` must hold the attempt that ends it. */
  settleRunning(submission: Submission, outcome: Outcome, fault?: Fault): void {
    const { db, journal, queue, usageTotal } = this.#parts;
    db.transaction(() => {
      this.#requireAttempt(submission);
      const records = this.recordsOf(submission);
      if (outcome !== "completed") {
        const standing = standingOf(records, this.#lastJoinedSeq(submission));
        for (const body of closingRecords(submission.id, standing, outcome, fault)) journal.append(ROOT_THREAD, body);
      }
      this.#closeThreads(submission, outcome);
      this.#end(submission, outcome, fault);
      const usage = this.usageOf(submission);
      if (usage) {
        usageTotal.add(usage);
        queue.recordUsage(submission.seq, usage);
      }
      this.#settleJoined(submission, records, outcome, fault);
    });
  }

  /** A submission that waits or has joined ends on its own: its input is recorded with its settlement if it was not. */
  settleAside(submission: Submission, outcome: Exclude<Outcome, "completed">, fault?: Fault): void {
    this.#parts.db.transaction(() => {
      this.#markResponse();
      const inputSeq = submission.inputSeq ?? this.#applyInput(submission).seq;
      this.#settle({ ...submission, inputSeq }, outcome, fault);
    });
  }

  /** Of its own response and of the threads beside it; nothing before the first step. */
  usageOf(submission: Submission): TokenUsage | undefined {
    const threads = this.#parts.journal.readThreads(submission.id, submission.inputSeq ?? 0);
    return sumUsage([ROOT_THREAD, ...threads].flatMap((thread) => this.recordsOf(submission, thread)));
  }

  /** All that the submission recorded in a thread, hints included. */
  recordsOf(submission: Submission, thread = ROOT_THREAD): StoredRecord[] {
    return this.#parts.journal.readSubmission(thread, submission.id, submission.inputSeq ?? 0);
  }

  standingOf(submission: Submission): Standing {
    return standingOf(this.recordsOf(submission), this.#lastJoinedSeq(submission));
  }

  /** The messages of a running response in the order the model reads them. */
  deliveriesOf(host: Submission): { submissionId: string; seq: number }[] {
    return [host, ...this.#parts.queue.joinedInto(host.id)].map(({ id, inputSeq = 0 }) => ({
      submissionId: id,
      seq: inputSeq,
    }));
  }

  /** Readers take what belongs to a response's message only once they know the message. */
  ensureShown(submission: Submission): void {
    const { journal } = this.#parts;
    if (journal.readFirstOfResponse(ROOT_THREAD, submission.id, submission.inputSeq ?? 0) !== undefined) return;
    journal.append(ROOT_THREAD, { type: "response_started", submissionId: submission.id });
  }

  attemptLog(submission: Submission): AttemptLog {
    const { db, journal } = this.#parts;
    const write = <T>(work: () => T): T =>
      db.transaction(() => {
        this.#requireAttempt(submission);
        return work();
      });
    return {
      write,
      append: (bodies, thread = ROOT_THREAD) => write(() => bodies.map((body) => journal.append(thread, body))),
    };
  }

  /** Leaves every thread of the submission well-formed. */
  #closeThreads(submission: Submission, outcome: Outcome): void {
    const { journal } = this.#parts;
    for (const thread of journal.readThreads(submission.id, submission.inputSeq ?? 0)) {
      const closing = openWorkRecords(submission.id, standingOf(this.recordsOf(submission, thread)), outcome);
      for (const body of closing) journal.append(thread, body);
    }
  }

  /** Records the input unless that was done before (a message that came back from a response it had joined). */
  #applyInput(submission: Submission): { seq: number; isMalformed: boolean } {
    if (submission.inputSeq !== undefined) return { seq: submission.inputSeq, isMalformed: false };
    const { journal, queue } = this.#parts;
    const { message, isMalformed } = queue.takeInput(submission);
    const { seq } = journal.append(ROOT_THREAD, { type: "input", submissionId: submission.id, message });
    return { seq, isMalformed };
  }

  /** What is recorded next comes behind the response that is being written now, for every reader. */
  #markResponse(): void {
    const { journal, queue } = this.#parts;
    const running = queue.running();
    const delta = running && journal.readFirstDelta(ROOT_THREAD, running.id, running.inputSeq ?? 0);
    if (!delta) return;
    const { submissionId, turnId } = delta.body;
    journal.append(ROOT_THREAD, { type: "response_started", submissionId, turnId });
  }

  #lastJoinedSeq(host: Submission): number {
    return Math.max(0, ...this.#parts.queue.joinedInto(host.id).map((joined) => joined.inputSeq ?? 0));
  }

  /**
   * Those that joined end with their host when the model has answered them. The others go back to their old place, their
   * input not to be recorded again; but an abort that was meant for them ends them.
   */
  #settleJoined(host: Submission, records: readonly StoredRecord[], outcome: Outcome, fault: Fault | undefined): void {
    const { queue } = this.#parts;
    const answers = records.filter((record) => isRecordOf(record, "assistant") && !record.body.interrupted);
    const lastAnswerSeq = answers.at(-1)?.seq ?? 0;
    for (const joined of queue.joinedInto(host.id)) {
      const isAnswered = lastAnswerSeq > (joined.inputSeq ?? 0);
      if (isAnswered) this.#end(joined, outcome, fault, host.id);
      else if (joined.abortAt !== undefined) this.#settle(joined, "aborted", ABORTED);
      else {
        queue.move(joined, "queued", { joinedInto: null });
      }
    }
  }

  /** Ends a submission that has no response of its own, with the advisory that says so. */
  #settle(submission: Submission, outcome: Exclude<Outcome, "completed">, fault?: Fault): void {
    const closing = closingRecords(submission.id, { openCalls: [] }, outcome, fault);
    for (const body of closing) this.#parts.journal.append(ROOT_THREAD, body);
    this.#end(submission, outcome, fault);
  }

  /** The one place where a row settles, together with its terminal record. */
  #end(submission: Submission, outcome: Outcome, fault: Fault | undefined, answeredBySubmissionId?: string): void {
    const { journal, queue, clock } = this.#parts;
    journal.append(ROOT_THREAD, {
      type: "settled",
      submissionId: submission.id,
      outcome,
      ...(fault && { error: fault }),
      ...(answeredBySubmissionId !== undefined && { answeredBySubmissionId }),
    });
    const { inputSeq = null } = submission;
    queue.move(submission, "settled", { outcome, settledAt: clock.now(), resumeAt: null, inputSeq });
  }

  #requireAttempt(submission: Submission): void {
    const holder = this.#parts.queue.running();
    if (holder?.id !== submission.id || holder.attempt !== submission.attempt) {
      throw new StaleAttemptError(submission.id, submission.attempt);
    }
  }
}

/** The fault a settlement shows: a framework error as it is; any other's text stays in the log, for it may hold anything. */
export function settlementFault(error: unknown): Fault {
  if (error instanceof BerthError) return faultOf(error);
  return { type: "operation_failed", message: "An exception ended the response. The log says more." };
}
