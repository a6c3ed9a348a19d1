/**
 * What callers may look at beside the messages: one submission, the queue, a settled answer.
 *
 * Source: contract RUNTIME 1.2 (`?wait=`), 1.12.
 */
import { BerthError } from "../protocol/errors.ts";
import { ROOT_THREAD } from "../protocol/records.ts";
import type { QueueView, SettledAnswer, SubmissionView } from "../protocol/rpc.ts";
import { foldResponse, renderSettlement } from "./projection/render-message.ts";
import type { Journal } from "./store/journal.ts";
import type { Submission, SubmissionQueue } from "./store/submission-queue.ts";
import type { UsageTotal } from "./store/usage-total.ts";

export interface ViewParts {
  journal: Journal;
  queue: SubmissionQueue;
  usageTotal: UsageTotal;
}

function viewOf({ journal, queue }: ViewParts, submission: Submission): SubmissionView {
  const { id, state, outcome, attempt, acceptedAt, startedAt, deadlineAt, settledAt, abortAt, joinedInto } = submission;
  const usage = queue.readUsage(submission.seq);
  const error = outcome === undefined ? undefined : journal.readSettled(id)?.body.error;
  return {
    submissionId: id,
    state,
    ...(outcome !== undefined && { outcome }),
    attempts: attempt,
    acceptedAt,
    ...(startedAt !== undefined && { startedAt }),
    ...(deadlineAt !== undefined && { deadlineAt }),
    ...(settledAt !== undefined && { settledAt }),
    ...(abortAt !== undefined && { abortRequestedAt: abortAt }),
    ...(joinedInto !== undefined && { joinedInto }),
    ...(usage && { usage }),
    ...(error && { error }),
  };
}

export function readSubmissionView(parts: ViewParts, submissionId: string): SubmissionView {
  const submission = parts.queue.find(submissionId);
  if (!submission) throw submissionNotFound();
  return viewOf(parts, submission);
}

export function submissionNotFound(): BerthError {
  return new BerthError("route_not_found", "The conversation has no such submission.");
}

export function readQueueView(parts: ViewParts): QueueView {
  const { queue } = parts;
  const running = queue.running();
  const view = (submission: Submission): SubmissionView => viewOf(parts, submission);
  return {
    running: running ? view(running) : null,
    joined: running ? queue.joinedInto(running.id).map(view) : [],
    queued: queue.queued().map(view),
    usage: parts.usageTotal.read(),
  };
}

/** The outcome of a submission and the message that answered it; nothing while it is not settled. */
export function readSettledAnswer({ journal, queue }: ViewParts, submissionId: string): SettledAnswer | undefined {
  const settled = journal.readSettled(submissionId);
  if (!settled) return undefined;
  const hostId = settled.body.answeredBySubmissionId ?? submissionId;
  const records = journal.readSubmission(ROOT_THREAD, hostId, queue.find(hostId)?.inputSeq ?? 0);
  const message = foldResponse(hostId, records);
  return { settlement: renderSettlement(settled.body), ...(message && { message }) };
}
