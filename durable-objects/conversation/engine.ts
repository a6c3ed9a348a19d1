/**
 * The engine of one conversation, put together from its collaborators and from ports: a database, an alarm, a clock. It
 * knows no Durable Object, so that the same code runs in a simulator.
 */
import { createHash } from "node:crypto";
import { createCwdSandbox } from "../../containers/cwd-sandbox.ts";
import type { Sandbox, SandboxFactory, SandboxHost } from "../../containers/sandbox.ts";
import { createThreadSandbox } from "../../containers/thread-sandbox.ts";
import type { RenderedAgent } from "../agent/agent.ts";
import type { ResolvedModel } from "../models/model.ts";
import type { Clock, Timers } from "../protocol/clock.ts";
import type { Ids } from "../protocol/ids.ts";
import { ROOT_THREAD, type StoredRecord } from "../protocol/records.ts";
import type { Admission, Receipt } from "../protocol/rpc.ts";
import { createPathLocks } from "../tools/path-lock.ts";
import type { Database } from "./store/database.ts";
import { type Instance, readInstance, readWorkspaceGeneration, writeWorkspaceGeneration } from "./store/instance.ts";
import { Journal } from "./store/journal.ts";
import { readSchemaVersion } from "./store/migrations.ts";
import { createPromptStore, type PromptStore } from "./store/prompts.ts";
import { type Submission, SubmissionQueue } from "./store/submission-queue.ts";
import { ConversationStream } from "./stream.ts";
import { type AttemptLog, SubmissionLifecycle } from "./submission-lifecycle.ts";
import { type Alarm, Supervisor } from "./supervisor.ts";
import type { AttemptEnd, AttemptPorts, PromptPort } from "./turn/ports.ts";

export interface EngineParts {
  db: Database;
  alarm: Alarm;
  clock: Clock;
  timers: Timers;
  ids: Ids;
  random(): number;
  sandboxKind: string;
  sandboxHost: SandboxHost;
  render(instance: Instance): RenderedAgent;
  resolveModel(spec: string): ResolvedModel;
  runAttempt(ports: AttemptPorts): Promise<AttemptEnd>;
  report(event: string, fields: Record<string, unknown>): void;
}

export interface Engine {
  /** Makes an input durable together with the alarm that backs it (A1), then starts what can start. */
  admit(admission: Admission): Receipt;
  /** Asks every unsettled submission to end; false when there is none. */
  abort(): boolean;
  supervisor: Supervisor;
  stream: ConversationStream;
  /** Nothing was ever written here: there is no conversation. */
  readInstance(): Instance | undefined;
}

function sha256Hex(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

function promptPort(prompts: PromptStore, clock: Clock, log: AttemptLog): PromptPort {
  return {
    read: () => prompts.latest()?.text,
    freeze(text) {
      const sha256 = sha256Hex(text);
      log.write(() => prompts.insert({ epoch: 1, composedAt: clock.now(), sha256, text }));
    },
  };
}

export function createEngine(parts: EngineParts): Engine {
  const { db, clock, timers, ids } = parts;
  const journal = new Journal(db, clock);
  const queue = new SubmissionQueue(db);
  const lifecycle = new SubmissionLifecycle({ db, journal, queue, clock, ids, sandboxKind: parts.sandboxKind });
  const prompts = createPromptStore(db);
  const locks = createPathLocks();
  const sandboxes = new Map<string, Promise<Sandbox>>();
  const readBorn = (): Instance | undefined => (readSchemaVersion(db) === 0 ? undefined : readInstance(db));

  function openSandbox(factory: SandboxFactory, cwd: string | undefined): Promise<Sandbox> {
    const instance = readBorn();
    const name = `${factory.kind ?? "custom"}:${cwd ?? ""}`;
    const opened =
      sandboxes.get(name) ??
      factory.createSandbox({ id: instance?.id ?? "", host: sandboxHost(instance) }).then((sandbox) => {
        const own = createThreadSandbox(sandbox, ROOT_THREAD);
        return cwd === undefined ? own : createCwdSandbox(own, own.resolvePath(cwd));
      });
    sandboxes.set(name, opened);
    // A sandbox that could not be opened is asked for again by the next attempt.
    opened.catch(() => sandboxes.delete(name));
    return opened;
  }

  function sandboxHost(instance: Instance | undefined): SandboxHost {
    if (!instance) return parts.sandboxHost;
    const { agent, id, uid } = instance;
    return { ...parts.sandboxHost, workspace: { objectName: `${agent}/${id}`, uid } };
  }

  function runAttempt(submission: Submission, signal: AbortSignal): Promise<AttemptEnd> {
    const log = lifecycle.attemptLog(submission);
    return parts.runAttempt({
      submissionId: submission.id,
      attempt: submission.attempt,
      providerRetries: submission.providerRetries,
      clearProviderRetries: () => log.write(() => queue.change(submission.seq, { providerRetries: 0 })),
      signal,
      journal: {
        append: log.append,
        readTranscript: () => journal.readTranscript(ROOT_THREAD, 0),
        readSubmission: () => lifecycle.recordsOf(submission),
        hasToolCall: (id) => journal.hasToolCall(id),
        get isWatched() {
          return journal.isWatched;
        },
      },
      prompt: promptPort(prompts, clock, log),
      workspace: {
        readGeneration: () => readWorkspaceGeneration(db),
        noteGeneration(generation, told) {
          let records: StoredRecord[] = [];
          log.write(() => {
            writeWorkspaceGeneration(db, generation);
            records = log.append(told);
          });
          return records;
        },
      },
      render: () => parts.render(requireInstance(readBorn())),
      resolveModel: parts.resolveModel,
      openSandbox,
      locks,
      clock,
      timers,
      ids,
      random: parts.random,
    });
  }

  const supervisor = new Supervisor({
    queue,
    journal,
    lifecycle,
    alarm: parts.alarm,
    clock,
    // An attempt begins in a task of its own: what starts it (an admission, a pass) has ended by then.
    runAttempt: async (submission, signal) => {
      await Promise.resolve();
      return runAttempt(submission, signal);
    },
    report: parts.report,
  });
  const stream = new ConversationStream({ journal, queue, timers, readInstance: readBorn });
  return {
    admit(admission) {
      const receipt = db.transaction(() => {
        const admitted = lifecycle.admit(admission);
        supervisor.arm();
        return admitted;
      });
      supervisor.pass();
      return receipt;
    },
    abort() {
      const isBusy = queue.requestAbort(clock.now()) > 0;
      if (isBusy) supervisor.pass();
      return isBusy;
    },
    supervisor,
    stream,
    readInstance: readBorn,
  };
}

function requireInstance(instance: Instance | undefined): Instance {
  if (!instance) throw new Error("An attempt runs in a conversation that was never born.");
  return instance;
}
