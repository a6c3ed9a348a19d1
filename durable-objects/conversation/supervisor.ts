/**
 * The supervisor: decides what runs. A pass touches storage only and awaits nothing (A2), so a hung attempt cannot stop
 * its own supervision; it re-arms the alarm before anything else (A1).
 *
 * Owns the one live attempt of this instance. "Running in the table, nothing live in memory" is how a crash is found.
 *
 * Source: contract RUNTIME 2.3, 2.5, 2.7.
 */
import type { Clock } from "../protocol/clock.ts";
import type { Fault } from "../protocol/errors.ts";
import { ATTEMPT_TICK_MS, SETTLE_GRACE_MS, SUPERVISOR_BACKSTOP_MS } from "../protocol/limits.ts";
import { ROOT_THREAD } from "../protocol/records.ts";
import type { Durability } from "../protocol/submission.ts";
import type { Journal } from "./store/journal.ts";
import type { Submission, SubmissionQueue } from "./store/submission-queue.ts";
import { ABORTED, StaleAttemptError, type SubmissionLifecycle, settlementFault } from "./submission-lifecycle.ts";
import type { AttemptEnd } from "./turn/ports.ts";

export interface Alarm {
  set(at: number): void;
  clear(): void;
}

export interface SupervisorParts {
  queue: SubmissionQueue;
  journal: Journal;
  lifecycle: SubmissionLifecycle;
  alarm: Alarm;
  clock: Clock;
  readDurability(): Durability;
  /** Runs one attempt to its end. May reject: that is a fault of ours or of agent code. */
  runAttempt(submission: Submission, signal: AbortSignal): Promise<AttemptEnd>;
  report(event: string, fields: Record<string, unknown>): void;
}

interface LiveAttempt {
  submissionId: string;
  attempt: number;
  controller: AbortController;
}

const TIMED_OUT: Fault = { type: "submission_timeout", message: "The submission ran longer than it may." };
const EXHAUSTED: Fault = {
  type: "submission_retry_exhausted",
  message: "The submission was interrupted too often without any progress.",
};

export class Supervisor {
  readonly #parts: SupervisorParts;
  #live: LiveAttempt | undefined;

  constructor(parts: SupervisorParts) {
    this.#parts = parts;
  }

  /** One look at the table: settles what is over, starts what is due. Never throws: a fault of ours is tried again. */
  pass(): void {
    this.arm();
    try {
      this.#look();
      this.arm();
    } catch (error) {
      this.#parts.report("pass_failed", {
        error: describe(error),
      });
      this.#parts.alarm.set(this.#parts.clock.now() + ATTEMPT_TICK_MS);
    }
  }

  #look(): void {
    const { queue, lifecycle } = this.#parts;
    for (;;) {
      const running = queue.running();
      if (running) {
        if (this.#tend(running)) continue;
        // An abort of all ends the running one first; one that was meant for a waiting message need not wait for it.
        if (running.abortAt === undefined) {
          for (const submission of queue.queuedAborts()) lifecycle.settleAside(submission, "aborted", ABORTED);
        }
        return;
      }
      const next = queue.nextQueued();
      if (!next) return;
      if (next.abortAt !== undefined) lifecycle.settleAside(next, "aborted", ABORTED);
      else {
        const started = lifecycle.start(next);
        if (started) this.#launch(started);
      }
    }
  }

  /** The attempt that holds the conversation loses its place in memory; what it still writes is refused. */
  stop(): void {
    this.#live?.controller.abort();
    this.#live = undefined;
  }

  /** Stores the earliest due time, or none when nothing is due. */
  arm(): void {
    const { alarm } = this.#parts;
    const dueAt = this.#dueAt();
    if (dueAt === undefined) alarm.clear();
    else alarm.set(dueAt);
  }

  #dueAt(): number | undefined {
    const { queue, clock } = this.#parts;
    const now = clock.now();
    const running = queue.running();
    if (!running) return queue.nextQueued() ? now : undefined;
    if (this.#isLive(running)) {
      const times = [now + ATTEMPT_TICK_MS];
      for (const cut of [running.abortAt, running.deadlineAt]) {
        if (cut !== undefined) times.push(cut > now ? cut : Math.max(now, cut + SETTLE_GRACE_MS));
      }
      return Math.min(...times);
    }
    if (running.abortAt !== undefined || running.resumeAt === undefined) return now;
    return Math.min(running.resumeAt, running.deadlineAt ?? running.resumeAt, now + SUPERVISOR_BACKSTOP_MS);
  }

  /** True when the running submission was settled, so that the next one may start. */
  #tend(running: Submission): boolean {
    if (this.#isLive(running)) return this.#tendLive(running);
    const { lifecycle, journal, clock } = this.#parts;
    const now = clock.now();
    if (lifecycle.standingOf(running).completed) {
      lifecycle.settleRunning(running, "completed");
      return true;
    }
    if (running.abortAt !== undefined) {
      lifecycle.settleRunning(running, "aborted", ABORTED);
      return true;
    }
    const isPlanned = running.resumeAt !== undefined;
    const hasProgress = isPlanned || journal.hasProgressSince(ROOT_THREAD, running.attemptSeq);
    const fruitless = isPlanned ? running.fruitlessAttempts : hasProgress ? 0 : running.fruitlessAttempts + 1;
    if (fruitless >= this.#parts.readDurability().maxAttempts) {
      lifecycle.settleRunning(running, "failed", EXHAUSTED);
      return true;
    }
    if (running.deadlineAt !== undefined && running.deadlineAt <= now) {
      lifecycle.settleRunning(running, "failed", TIMED_OUT);
      return true;
    }
    if (running.resumeAt !== undefined && running.resumeAt > now) return false;
    if (!isPlanned) this.#parts.report("submission_recovered", { submissionId: running.id, attempt: running.attempt });
    this.#launch(lifecycle.beginAttempt(running, fruitless));
    return false;
  }

  #tendLive(running: Submission): boolean {
    const now = this.#parts.clock.now();
    const cuts = [running.abortAt, running.deadlineAt].filter((cut) => cut !== undefined && cut <= now);
    if (cuts.length === 0) return false;
    this.#live?.controller.abort();
    if (now < Math.min(...cuts.map(Number)) + SETTLE_GRACE_MS) return false;
    this.#parts.report("submission_stuck", { submissionId: running.id, attempt: running.attempt });
    this.#live = undefined;
    if (running.abortAt !== undefined) this.#parts.lifecycle.settleRunning(running, "aborted", ABORTED);
    else this.#parts.lifecycle.settleRunning(running, "failed", TIMED_OUT);
    return true;
  }

  #isLive(running: Submission): boolean {
    return this.#live?.submissionId === running.id && this.#live.attempt === running.attempt;
  }

  #launch(submission: Submission): void {
    const controller = new AbortController();
    const live: LiveAttempt = { submissionId: submission.id, attempt: submission.attempt, controller };
    this.#live = live;
    const ended = this.#parts.runAttempt(submission, controller.signal).catch((error: unknown): AttemptEnd => {
      if (isStale(error)) return { kind: "stale" };
      // Whatever an attempt that was told to stop ends with: the supervisor knows why it was.
      if (controller.signal.aborted) return { kind: "cut" };
      this.#parts.report("attempt_failed", {
        submissionId: submission.id,
        attempt: submission.attempt,
        error: describe(error),
      });
      return { kind: "failed", fault: settlementFault(error) };
    });
    ended
      .then((end) => this.#finish(live, submission, end))
      // Storage refused the settlement: the alarm finds the submission without a live attempt.
      .catch((error: unknown) =>
        this.#parts.report("settlement_refused", { submissionId: submission.id, error: String(error) }),
      );
  }

  /** The attempt's promise settled: what it says counts only while it still holds the row. Then the next may start. */
  #finish(live: LiveAttempt, submission: Submission, end: AttemptEnd): void {
    if (this.#live === live) this.#live = undefined;
    const current = this.#parts.queue.running();
    if (current?.id === submission.id && current.attempt === submission.attempt) this.#conclude(current, end);
    this.pass();
  }

  #conclude(current: Submission, end: AttemptEnd): void {
    const { lifecycle, clock, report } = this.#parts;
    const isOver = (current.deadlineAt ?? Number.POSITIVE_INFINITY) <= clock.now();
    if (current.abortAt !== undefined) lifecycle.settleRunning(current, "aborted", ABORTED);
    else if (isOver) lifecycle.settleRunning(current, "failed", TIMED_OUT);
    else if (end.kind === "failed") lifecycle.settleRunning(current, "failed", end.fault);
    else if (end.kind === "retry") {
      const { id: submissionId, providerRetries } = current;
      report("submission_postponed", {
        submissionId,
        afterMs: end.afterMs,
        retries: providerRetries + 1,
        reason: end.reason,
      });
      lifecycle.postpone(current, clock.now() + end.afterMs, providerRetries + 1);
    }
  }
}

function causeOf(error: unknown): unknown {
  return error instanceof Error ? error.cause : undefined;
}

/** Agent code may have caught the refusal and thrown something else because of it. */
function isStale(error: unknown): boolean {
  return error instanceof StaleAttemptError || (error !== undefined && isStale(causeOf(error)));
}

function describe(error: unknown): string {
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  const cause = causeOf(error);
  return cause === undefined ? text : `${text}\ncaused by ${describe(cause)}`;
}
