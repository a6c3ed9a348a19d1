/**
 * What the agent's own code may reach during one attempt: renders that know the conversation, and the seams its writes
 * belong to. Every write goes through the attempt's fence (Q5).
 *
 * A `tool_result` takes the writes of its call with it in one transaction, so that neither is ever there without the
 * other.
 *
 * Source: contract RUNTIME 4.
 */
import type { RenderedAgent } from "../agent/agent.ts";
import type { DispatchReceipt, RenderRuntime } from "../agent/render-runtime.ts";
import { BerthError } from "../protocol/errors.ts";
import { isRecordOf, type RecordBody, ROOT_THREAD, type StoredRecord } from "../protocol/records.ts";
import type { DeliveredMessage, RecordedMessage } from "../protocol/submission.ts";
import type { Instance } from "./store/instance.ts";
import type { Journal } from "./store/journal.ts";
import type { StateStore } from "./store/state.ts";
import type { Submission } from "./store/submission-queue.ts";
import type { AttemptLog, SubmissionLifecycle } from "./submission-lifecycle.ts";
import type { AttemptPorts, Delivery } from "./turn/ports.ts";
import { type StateWrite, WriteSeams } from "./write-seams.ts";

export interface AttemptAccessParts {
  submission: Submission;
  instance: Instance;
  log: AttemptLog;
  lifecycle: SubmissionLifecycle;
  journal: Journal;
  states: StateStore;
  render(instance: Instance, runtime: RenderRuntime): RenderedAgent;
  dispatch(message: DeliveredMessage): DispatchReceipt;
  /** Bytes of an attachment in base64. */
  readAttachment(id: string): string | undefined;
}

export interface AttemptAccess extends Pick<AttemptPorts, "render" | "response" | "seams"> {
  /** The attempt's fenced append. */
  append(bodies: readonly RecordBody[]): StoredRecord[];
}

const NO_USAGE = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0, cost: 0 } as const;

export function createAttemptAccess(parts: AttemptAccessParts): AttemptAccess {
  const { submission, instance, log, lifecycle, journal, states } = parts;
  const seams = new WriteSeams((name) => states.read(name));
  let dataParts: readonly string[] | undefined;

  function store(writes: readonly StateWrite[]): void {
    for (const { name, value } of writes) states.write(name, value);
  }

  function append(bodies: readonly RecordBody[]): StoredRecord[] {
    return log.write(() => {
      for (const body of bodies) if (body.type === "tool_result") store(seams.takeCall(body.toolCallId));
      return log.append(bodies);
    });
  }

  /** A later signal of an event hook moves the cursor as a message does. */
  function readNewestDelivery(): DeliveredMessage {
    const newest = Math.max(...lifecycle.deliveriesOf(submission).map(({ seq }) => seq));
    const appended = journal.readLastAppended(ROOT_THREAD, submission.id, submission.inputSeq ?? 0);
    if (!appended || appended.seq < newest) return readDelivery(newest);
    const { signalType: type, body, attributes, tagName } = appended.body;
    return { kind: "signal", type, body, ...(attributes && { attributes }), ...(tagName !== undefined && { tagName }) };
  }

  function readDelivery(seq: number): DeliveredMessage {
    const record = journal.read(ROOT_THREAD, seq - 1, 1, seq)[0];
    if (!record || !isRecordOf(record, "input")) throw new Error(`Record ${seq} is no delivered message.`);
    return asDelivered(record.body.message, parts.readAttachment);
  }

  const runtimeAt = (delivery: Delivery | undefined): RenderRuntime => ({
    initialData: instance.initialData,
    readDelivery: () => (delivery ? readDelivery(delivery.seq) : readNewestDelivery()),
    readState: (name) => states.read(name),
    canWrite: () => seams.isInside(),
    writeState: (name, update) => seams.write(name, update),
    writeData: (name, data) => showInResponse([{ type: "data", submissionId: submission.id, name, data }]),
    dispatch: async (message) => parts.dispatch(message),
  });

  function showInResponse(bodies: readonly RecordBody[]): void {
    log.write(() => {
      lifecycle.ensureShown(submission);
      log.append(bodies);
    });
  }

  return {
    append,
    render(delivery) {
      const rendered = parts.render(instance, runtimeAt(delivery));
      throwIfChanged(instance.agent, dataParts, rendered.dataParts ?? []);
      dataParts = rendered.dataParts ?? [];
      return rendered;
    },
    seams: {
      open: () => seams.open(),
      openCall: (toolCallId) => seams.openCall(toolCallId),
      run: (seam, work) => seams.run(seam, work),
      close: (seam) => seams.close(seam),
      discard: (seam) => seams.discard(seam),
      commit(ended, bodies) {
        log.write(() => {
          for (const write of ended.map((seam) => seams.take(seam))) store(write);
          log.append(bodies);
        });
      },
    },
    response: {
      deliveries: () => lifecycle.deliveriesOf(submission),
      hasStartRun: (submissionId) => journal.hasStartRun(submissionId),
      readStanding: () => lifecycle.standingOf(submission),
      readUsage: () => lifecycle.usageOf(submission) ?? NO_USAGE,
      append: showInResponse,
    },
  };
}

/** The message as every transport delivers it; the bytes of an image are read when they are asked for. */
function asDelivered(message: RecordedMessage, readAttachment: (id: string) => string | undefined): DeliveredMessage {
  if (message.kind === "signal" || !message.attachments) return message as DeliveredMessage;
  const attachments = message.attachments.map(({ type, id, mimeType, filename }) => ({
    type,
    get data() {
      return readAttachment(id) ?? "";
    },
    mimeType,
    ...(filename !== undefined && { filename }),
  }));
  return { ...message, attachments };
}

/** Clients know a response by its data parts: they may not come and go between its renders. */
function throwIfChanged(agent: string, before: readonly string[] | undefined, now: readonly string[]): void {
  if (before === undefined) return;
  const list = (names: readonly string[]): string => names.map((name) => `"${name}"`).join(", ");
  const added = now.filter((name) => !before.includes(name));
  const removed = before.filter((name) => !now.includes(name));
  const changes = [added.length > 0 && `added ${list(added)}`, removed.length > 0 && `removed ${list(removed)}`];
  const told = changes.filter((change) => change !== false).join(" and ");
  if (told === "") return;
  throw new BerthError(
    "operation_failed",
    `Agent "${agent}" misused useDataWriter(): a render ${told}. Declare the same names in every render.`,
  );
}
