/**
 * What must hold of a simulated conversation, checked from records, wire and workspace alone (ARCHITECTURE 4, RUNTIME 0).
 */
import type { Engine } from "../../durable-objects/conversation/engine.ts";
import { Journal } from "../../durable-objects/conversation/store/journal.ts";
import { INTERRUPTED_RESULT } from "../../durable-objects/protocol/interrupted.ts";
import { ATTEMPT_TICK_MS, SUPERVISOR_BACKSTOP_MS } from "../../durable-objects/protocol/limits.ts";
import {
  isRecordOf,
  ROOT_THREAD,
  type StoredRecord,
  type ToolResultRecord,
} from "../../durable-objects/protocol/records.ts";
import type { ModelLog, Plan } from "./scripted-model.ts";
import { readSnapshot, SimulatedReader } from "./simulated-reader.ts";
import type { World } from "./world.ts";

export interface Admitted {
  id: string;
  plan: Plan;
}

/** While an instance lives, nothing waits that could run, and nothing is due for ever. */
export function findIdle(world: World): string[] {
  const unsettled = world.count("state <> 'settled'");
  const isRunning = world.count("state = 'running'") > 0;
  if (unsettled > 0 && !isRunning) return ["a submission waits although nothing runs"];
  if (unsettled === 0 && world.alarmAt !== undefined) return ["A1: an alarm is stored although nothing is due"];
  return [];
}

/** Whether an instance lives or not: an alarm that comes soon enough is stored for whatever is unsettled. */
export function findUnwatched(world: World): string[] {
  if (world.count("state <> 'settled'") === 0) return [];
  const { alarmAt } = world;
  if (alarmAt === undefined) return ["A1: a submission is unsettled and no alarm is stored"];
  const isPostponed = world.count("state = 'running' AND resume_at IS NOT NULL") > 0;
  const longest = isPostponed ? SUPERVISOR_BACKSTOP_MS : ATTEMPT_TICK_MS;
  return alarmAt > world.now + longest ? [`A1: the alarm rings in ${alarmAt - world.now} ms only`] : [];
}

/** After the run has come to rest. */
export async function findViolations(
  world: World,
  engine: Engine,
  admitted: readonly Admitted[],
  log: ModelLog,
): Promise<string[]> {
  const violations = [...new Set(log.faults)].map((fault) => `provider request: ${fault}`);
  if (!engine.readInstance()) return admitted.length > 0 ? ["a receipt was given and nothing is there"] : violations;
  const journal = new Journal(world.records, { now: () => world.now });
  const records = journal.read(ROOT_THREAD, 0, 100_000);
  const settled = records.filter((record) => isRecordOf(record, "settled")).map((record) => record.body.submissionId);
  for (const { id } of admitted) {
    const times = settled.filter((other) => other === id).length;
    if (times !== 1) violations.push(`Q3: ${id} has ${times} settlements`);
  }
  violations.push(...findUnanswered(records, admitted));
  violations.push(...findLeftOut(records));
  const byKey = new Map(admitted.map(({ id, plan }) => [plan.name, id]));
  for (const { id, plan } of admitted) {
    if (byKey.get(plan.name) !== id) violations.push(`${plan.name} was admitted twice under one key`);
  }
  for (const record of records) {
    // The model's own faults are tried again; nothing else may fail a submission here.
    if (isRecordOf(record, "settled") && record.body.outcome === "failed") {
      const type = record.body.error?.type;
      const isHangOrCrashes =
        type === "submission_timeout" || (type === "submission_retry_exhausted" && world.crashes >= 10);
      if (type !== "provider_failed" && !isHangOrCrashes)
        violations.push(`${record.body.submissionId} failed: ${JSON.stringify(record.body.error)}`);
    }
  }
  const open = world.records.all<{ id: string; state: string }>(
    "SELECT id, state FROM submission WHERE state <> 'settled'",
  );
  for (const row of open) violations.push(`Q3: ${row.id} stays ${row.state}`);
  // An abort of one that waits settles it out of turn.
  const order = world.records
    .all<{ id: string }>("SELECT id FROM submission WHERE outcome <> 'aborted' ORDER BY seq")
    .map((row) => row.id);
  const inputs = records
    .filter((record) => isRecordOf(record, "input"))
    .map((record) => record.body.submissionId)
    .filter((id) => order.includes(id));
  if (inputs.join() !== order.join()) violations.push(`Q2: inputs ${inputs.join()} were admitted as ${order.join()}`);
  for (const thread of readThreads(world)) {
    const own = thread === ROOT_THREAD ? records : journal.read(thread, 0, 100_000);
    if (own.some((record) => record.body.type === "delta"))
      violations.push(`J2: a delta outlived its message ${thread}`);
    violations.push(...findUnpaired(own));
  }
  // A write and a step that were not recorded are rightly done again in another workspace, and by another instance while
  // the one before still works; a command never is.
  const once =
    world.workspace.losses + world.overtaken === 0
      ? world.workspace.ledger
      : world.workspace.ledger.filter((line) => !/^write |\/[ab]$/.test(line));
  if (new Set(once).size !== once.length) violations.push(`a command ran twice: ${world.workspace.ledger.join()}`);
  if (world.alarmAt !== undefined) violations.push("A1: an alarm is stored although nothing is due");

  const steps = records.filter((record) => isRecordOf(record, "tool_step"));
  const stepNames = steps.map(
    (record) => isRecordOf(record, "tool_step") && `${record.body.toolCallId}/${record.body.name}`,
  );
  if (new Set(stepNames).size !== stepNames.length) violations.push("a completed step ran again");
  for (const record of records) {
    // Every tool of the simulated agent but one can be found again after a crash.
    if (
      isRecordOf(record, "tool_result") &&
      record.body.text === INTERRUPTED_RESULT &&
      record.body.toolName !== "ask" &&
      world.workspace.losses === 0 &&
      !isFailed(records, record.body)
    ) {
      violations.push(`the outcome of ${record.body.toolCallId} is told to be unknown`);
    }
  }
  const calls = records.flatMap((record) =>
    isRecordOf(record, "assistant") ? record.body.message.content.filter((part) => part.type === "toolCall") : [],
  );
  for (const call of calls) {
    const results = records.filter((record) => isRecordOf(record, "tool_result") && record.body.toolCallId === call.id);
    const first = results[0];
    if (first && isRecordOf(first, "tool_result") && !first.body.isError) {
      const { name, arguments: args } = call;
      const wanted = expectedLine(name, args);
      // What it counted is state, which `hook-invariants.ts` looks at.
      const isDone =
        name === "tally" || world.workspace.ledger.some((line) => line === wanted || line.startsWith(`${wanted}#`));
      if (!isDone) violations.push(`${wanted} has a result and never ran`);
      const start = records.find((r) => isRecordOf(r, "tool_started") && r.body.toolCallId === call.id);
      if (!start || start.seq > first.seq) violations.push(`T2: ${call.id} has a result before it started`);
    }
  }
  for (const requests of log.requests.values()) {
    requests.forEach((request, i) => {
      const before = requests[i - 1];
      if (before && !before.every((message, k) => request[k] === message)) {
        violations.push(`request ${i} does not begin with the one before it`);
      }
    });
  }

  const fromStart = new SimulatedReader(false);
  await fromStart.poll(engine);
  const [seen, real] = [JSON.stringify(fromStart.messages), JSON.stringify((await readSnapshot(engine)).messages)];
  if (seen !== real) violations.push(`the whole stream gives ${seen}, the snapshot ${real}`);
  return violations;
}

function readThreads(world: World): string[] {
  return world.records.all<{ thread: string }>("SELECT DISTINCT thread FROM record").map((row) => row.thread);
}

/** Every call of a thread has exactly one result. */
function findUnpaired(records: readonly StoredRecord[]): string[] {
  const results = records.flatMap((record) => (isRecordOf(record, "tool_result") ? [record.body.toolCallId] : []));
  return records
    .flatMap((record) => (isRecordOf(record, "assistant") ? record.body.message.content : []))
    .filter((part) => part.type === "toolCall")
    .map(({ id }) => ({ id, times: results.filter((result) => result === id).length }))
    .filter(({ times }) => times !== 1)
    .map(({ id, times }) => `T1: call ${id} has ${times} results`);
}

/** The line that the ledger must have when a call has a good result; a run in a scratch conversation adds its number. */
function expectedLine(name: string, args: Record<string, unknown>): string {
  if (name === "write") return `write ${args.path}`;
  if (name === "steps") return `${args.command}/b`;
  return name === "bash" ? String(args.command) : `${args.command}/inner`;
}

function isFailed(records: readonly StoredRecord[], body: ToolResultRecord): boolean {
  return records.some(
    (record) =>
      isRecordOf(record, "settled") &&
      record.body.submissionId === body.submissionId &&
      record.body.outcome !== "completed",
  );
}

/** A completed message has been answered: after its input, by name, with all its commands run. */
function findUnanswered(records: readonly StoredRecord[], admitted: readonly Admitted[]): string[] {
  return admitted.flatMap(({ id, plan }) => {
    const end = records.find((record) => isRecordOf(record, "settled") && record.body.submissionId === id);
    if (!end || !isRecordOf(end, "settled")) return [];
    // One that settled with its host was answered there, whatever came of the host later.
    if (end.body.outcome !== "completed" && end.body.answeredBySubmissionId === undefined) return [];
    const input = records.find((record) => isRecordOf(record, "input") && record.body.submissionId === id);
    const hostId = end.body.answeredBySubmissionId ?? id;
    const isAnswered = records.some(
      (record) =>
        isRecordOf(record, "assistant") &&
        record.body.submissionId === hostId &&
        record.seq > (input?.seq ?? Number.POSITIVE_INFINITY) &&
        (end.body.outcome !== "completed" ||
          record.body.message.content.some((part) => part.type === "text" && part.text.includes(plan.name))),
    );
    return isAnswered ? [] : [`${id} (${plan.name}) is ${end.body.outcome} and was never answered`];
  });
}

/** What was told to a model while a response ran that completed was answered by it, unless it was aborted or unreadable. */
function findLeftOut(records: readonly StoredRecord[]): string[] {
  const inputs = records.filter((record) => isRecordOf(record, "input"));
  const ends = records.filter((record) => isRecordOf(record, "settled"));
  return ends
    .filter((end) => end.body.outcome === "completed" && end.body.answeredBySubmissionId === undefined)
    .flatMap((host) => {
      const began = inputs.find((input) => input.body.submissionId === host.body.submissionId)?.seq ?? 0;
      const during = inputs.filter((input) => input.seq > began && input.seq < host.seq);
      return during.flatMap(({ body: { submissionId } }) => {
        const end = ends.find((other) => other.body.submissionId === submissionId)?.body;
        const isHosts = end?.answeredBySubmissionId === host.body.submissionId || end?.outcome === "aborted";
        return isHosts ? [] : [`2.4: ${submissionId} joined ${host.body.submissionId} and was not answered by it`];
      });
    });
}
