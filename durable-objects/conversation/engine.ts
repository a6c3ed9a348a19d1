/**
 * The engine of one conversation, put together from its collaborators and from ports: a database, an alarm, a clock. It
 * knows no Durable Object, so that the same code runs in a simulator.
 */
import { createCwdSandbox } from "../../containers/cwd-sandbox.ts";
import type { Sandbox, SandboxFactory, SandboxHost } from "../../containers/sandbox.ts";
import { createThreadSandbox } from "../../containers/thread-sandbox.ts";
import type { RenderedAgent } from "../agent/agent.ts";
import type { DispatchReceipt, RenderRuntime } from "../agent/render-runtime.ts";
import type { ResolvedModel } from "../models/model.ts";
import type { Clock, Timers } from "../protocol/clock.ts";
import { BerthError } from "../protocol/errors.ts";
import type { Ids } from "../protocol/ids.ts";
import { isRecordOf, ROOT_THREAD, type StoredRecord } from "../protocol/records.ts";
import type {
  Admission,
  AttachmentAnswer,
  PromptView,
  QueueView,
  Receipt,
  SettledAnswer,
  SubmissionView,
} from "../protocol/rpc.ts";
import type { DeliveredMessage, Durability } from "../protocol/submission.ts";
import { createPathLocks } from "../tools/path-lock.ts";
import { admitSubmission } from "./admission.ts";
import { createAttemptAccess } from "./attempt-access.ts";
import { byteSource } from "./byte-source.ts";
import { createEnvironmentPort } from "./environment-port.ts";
import { createPromptPort } from "./prompt-port.ts";
import { type AttachmentStore, createAttachmentStore } from "./store/attachments.ts";
import type { Database } from "./store/database.ts";
import { type Instance, readInstance } from "./store/instance.ts";
import { Journal } from "./store/journal.ts";
import { readSchemaVersion } from "./store/migrations.ts";
import { createPromptStore } from "./store/prompts.ts";
import { revocableDatabase } from "./store/revocable-database.ts";
import { createStateStore } from "./store/state.ts";
import { type Submission, SubmissionQueue } from "./store/submission-queue.ts";
import { createUsageTotal } from "./store/usage-total.ts";
import { ConversationStream } from "./stream.ts";
import { ABORTED, SubmissionLifecycle } from "./submission-lifecycle.ts";
import { type Alarm, Supervisor } from "./supervisor.ts";
import type { AttemptEnd, AttemptJournal, AttemptPorts, ThreadPorts } from "./turn/ports.ts";
import { readQueueView, readSettledAnswer, readSubmissionView, submissionNotFound } from "./views.ts";

export interface EngineParts {
  db: Database;
  alarm: Alarm;
  clock: Clock;
  timers: Timers;
  ids: Ids;
  random(): number;
  sandboxKind: string;
  createSandboxHost(db: Database): SandboxHost;
  findInitialDataFault(agent: string, initialData: unknown): string | undefined;
  render(instance: Instance, runtime: RenderRuntime): RenderedAgent;
  /** When submissions of an agent are given up. */
  durabilityOf(agent: string): Durability;
  resolveModel(spec: string): ResolvedModel;
  runAttempt(ports: AttemptPorts): Promise<AttemptEnd>;
  report(event: string, fields: Record<string, unknown>): void;
}

export interface Engine {
  /** Makes an input durable together with the alarm that backs it (A1), then starts what can start. */
  admit(admission: Admission): Receipt;
  /** Asks every unsettled submission to end, or the one named; false when there is none. */
  abort(submissionId?: string): boolean;
  readSubmission(submissionId: string): SubmissionView;
  readQueue(): QueueView;
  /** The newest frozen prompt, or that of an epoch. */
  readPrompt(epoch?: number): PromptView | undefined;
  /** What a submission came to, at the latest after `ms`. */
  waitSettled(submissionId: string, ms: number): Promise<SettledAnswer | undefined>;
  readAttachment(attachmentId: string): AttachmentAnswer;
  supervisor: Supervisor;
  stream: ConversationStream;
  /** Nothing was ever written here: there is no conversation. */
  readInstance(): Instance | undefined;
  /** Ends what runs and follows; nothing of this engine can read or write any more. */
  close(): void;
}

export function createEngine(parts: EngineParts): Engine {
  const { clock, timers, ids } = parts;
  const { db, revoke } = revocableDatabase(parts.db);
  const sandboxHost = parts.createSandboxHost(db);
  const journal = new Journal(db, clock);
  const queue = new SubmissionQueue(db);
  const usageTotal = createUsageTotal(db);
  const attachments = createAttachmentStore(db);
  const readDurability = (): Durability => parts.durabilityOf(readBorn()?.agent ?? "");
  const lifecycle = new SubmissionLifecycle({ db, journal, queue, usageTotal, clock, readDurability });
  const prompts = createPromptStore(db);
  const states = createStateStore(db);
  const locks = createPathLocks();
  const sandboxes = new Map<string, Promise<Sandbox>>();
  const readBorn = (): Instance | undefined => (readSchemaVersion(db) === 0 ? undefined : readInstance(db));

  async function openSandbox(thread: string, factory: SandboxFactory, cwd: string | undefined): Promise<Sandbox> {
    const own = createThreadSandbox(await openShared(factory), thread);
    return cwd === undefined ? own : createCwdSandbox(own, own.resolvePath(cwd));
  }

  /** One sandbox of a kind for all threads. */
  function openShared(factory: SandboxFactory): Promise<Sandbox> {
    const instance = readBorn();
    const kind = factory.kind ?? "custom";
    const opened = sandboxes.get(kind) ?? factory.createSandbox({ id: instance?.id ?? "", host: hostOf(instance) });
    sandboxes.set(kind, opened);
    // A sandbox that could not be opened is asked for again by the next attempt.
    opened.catch(() => sandboxes.delete(kind));
    return opened;
  }

  function hostOf(instance: Instance | undefined): SandboxHost {
    if (!instance) return sandboxHost;
    const { agent, id, uid } = instance;
    return { ...sandboxHost, workspace: { objectName: `${agent}/${id}`, uid } };
  }

  /** From the last compaction on: what it summarised is not read again, but what was left out stays so. */
  function readRootTranscript(): StoredRecord[] {
    const compactionSeq = prompts.readCompactionSeq();
    const record = compactionSeq === undefined ? undefined : journal.readAt(ROOT_THREAD, compactionSeq);
    const facts = record && isRecordOf(record, "signal") ? record.body.compaction : undefined;
    if (!facts) return journal.readTranscript(ROOT_THREAD, 0);
    const { carriedSeqs, keptFromSeq } = facts;
    const carried = carriedSeqs.flatMap((seq) => journal.readAt(ROOT_THREAD, seq) ?? []);
    const firstSeq = carried[0]?.seq ?? keptFromSeq;
    const omitted = journal.readLastOf(ROOT_THREAD, "images_omitted", firstSeq, keptFromSeq);
    const before = [...carried, ...(omitted ? [omitted] : [])].sort((a, b) => a.seq - b.seq);
    return [...before, ...journal.readTranscript(ROOT_THREAD, keptFromSeq - 1)];
  }

  function threadJournal(submission: Submission, thread: string, append: AttemptJournal["append"]): AttemptJournal {
    // The root goes back to the conversation's birth; any other thread began in this submission.
    const begin = thread === ROOT_THREAD ? 0 : (submission.inputSeq ?? 0);
    return {
      append,
      readTranscript: (after) =>
        after === 0 && thread === ROOT_THREAD
          ? readRootTranscript()
          : journal.readTranscript(thread, Math.max(after, begin)),
      readSubmission: () => lifecycle.recordsOf(submission, thread),
      hasToolCall: (id) => journal.hasToolCall(id),
      get isWatched() {
        return journal.isWatched(thread);
      },
    };
  }

  function runAttempt(submission: Submission, signal: AbortSignal): Promise<AttemptEnd> {
    const log = lifecycle.attemptLog(submission);
    const instance = requireInstance(readBorn());
    const { append, ...access } = createAttemptAccess({
      ...{ submission, instance, log, lifecycle, journal, states },
      render: parts.render,
      dispatch: (message) => dispatch(instance, message),
      readAttachment: (id) => readBase64(attachments, id),
    });
    const openThread = (thread: string): ThreadPorts => ({
      journal: threadJournal(
        submission,
        thread,
        thread === ROOT_THREAD ? append : (bodies) => log.append(bodies, thread),
      ),
      openSandbox: (factory, cwd) => openSandbox(thread, factory, cwd),
    });
    return parts.runAttempt({
      ...access,
      submissionId: submission.id,
      agent: instance.agent,
      attempt: submission.attempt,
      sessionId: instance.uid,
      providerRetries: submission.providerRetries,
      clearProviderRetries: () => log.write(() => queue.change(submission.seq, { providerRetries: 0 })),
      signal,
      joinQueued: () => lifecycle.joinQueued(submission),
      joinOrComplete: (lastRecords) => lifecycle.joinOrComplete(submission, lastRecords),
      readAttachment: (id) => readBase64(attachments, id),
      ...openThread(ROOT_THREAD),
      openThread,
      prompt: createPromptPort({ db, prompts, journal, clock }, log),
      environment: createEnvironmentPort(db, journal, log),
      resolveModel: parts.resolveModel,
      locks,
      clock,
      timers,
      ids,
      report: parts.report,
      random: parts.random,
    });
  }

  const supervisor = new Supervisor({
    queue,
    journal,
    lifecycle,
    alarm: parts.alarm,
    clock,
    readDurability,
    // An attempt begins in a task of its own: what starts it (an admission, a pass) has ended by then.
    runAttempt: async (submission, signal) => {
      await Promise.resolve();
      return runAttempt(submission, signal);
    },
    report: parts.report,
  });
  const stream = new ConversationStream({ journal, queue, timers, readInstance: readBorn });
  const { sandboxKind, findInitialDataFault } = parts;
  const admission = { db, journal, queue, attachments, clock, ids, sandboxKind, findInitialDataFault };
  const views = { journal, queue, usageTotal };

  function admit(send: Admission): Receipt {
    const receipt = db.transaction(() => {
      const admitted = admitSubmission({ ...admission, readInstance: readBorn }, send);
      supervisor.arm();
      return admitted;
    });
    supervisor.pass();
    return receipt;
  }

  /** A message of the agent to itself: an ordinary admission. */
  function dispatch({ agent, id, uid }: Instance, message: DeliveredMessage): DispatchReceipt {
    const acceptedAt = new Date(clock.now()).toISOString();
    const { submissionId } = admit({ agent, id, uid, message });
    return { submissionId, acceptedAt, uid };
  }

  function abortOne(submissionId: string): boolean {
    const submission = queue.find(submissionId);
    if (!submission) throw submissionNotFound();
    if (submission.state === "settled") return false;
    if (submission.state !== "running") {
      lifecycle.settleAside(submission, "aborted", ABORTED);
      return true;
    }
    queue.requestAbort(clock.now(), submissionId);
    supervisor.pass();
    return true;
  }

  function abortAll(): boolean {
    if (queue.countUnsettled() === 0) return false;
    queue.requestAbort(clock.now());
    supervisor.pass();
    return true;
  }

  return {
    admit,
    abort: (submissionId) => (submissionId === undefined ? abortAll() : abortOne(submissionId)),
    readSubmission: (submissionId) => readSubmissionView(views, submissionId),
    readQueue: () => readQueueView(views),
    readPrompt: (epoch) => prompts.read(epoch),
    waitSettled: (submissionId, ms) => stream.waitFor(ms, () => readSettledAnswer(views, submissionId)),
    readAttachment(attachmentId) {
      const head = attachments.readHead(attachmentId);
      if (!head) throw new BerthError("attachment_not_found", "The conversation has no such attachment.");
      return { ...head, body: byteSource(attachments.readParts(attachmentId)) };
    },
    supervisor,
    stream,
    readInstance: readBorn,
    close() {
      supervisor.stop();
      revoke();
      journal.wakeAll();
    },
  };
}

function readBase64(attachments: AttachmentStore, id: string): string | undefined {
  if (!attachments.readHead(id)) return undefined;
  return Buffer.concat([...attachments.readParts(id)]).toString("base64");
}

function requireInstance(instance: Instance | undefined): Instance {
  if (!instance) throw new Error("An attempt runs in a conversation that was never born.");
  return instance;
}
