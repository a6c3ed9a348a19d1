/**
 * What must hold of a conversation whose agent has hooks: each seam takes effect once, together with all it wrote, and no
 * response ends without its last one (RUNTIME 4).
 */
import { foldResponse } from "../../durable-objects/conversation/projection/render-message.ts";
import { Journal } from "../../durable-objects/conversation/store/journal.ts";
import { readSchemaVersion } from "../../durable-objects/conversation/store/migrations.ts";
import { createStateStore } from "../../durable-objects/conversation/store/state.ts";
import { type Metadata, mergeMetadata } from "../../durable-objects/protocol/metadata.ts";
import { isRecordOf, ROOT_THREAD, type StoredRecord } from "../../durable-objects/protocol/records.ts";
import { SLOTS, STARTED } from "./simulated-hooks.ts";
import type { World } from "./world.ts";

export function findHookViolations(world: World): string[] {
  if (readSchemaVersion(world.records) === 0) return [];
  const records = new Journal(world.records, { now: () => world.now }).read(ROOT_THREAD, 0, 100_000);
  const states = createStateStore(world.records);
  const read = (name: string): unknown => states.read(name)?.value;
  return [
    ...findStartViolations(records, read),
    ...findEndViolations(records, read),
    ...findStateViolations(records, read),
  ];
}

type Read = (name: string) => unknown;

function findStartViolations(records: readonly StoredRecord[], read: Read): string[] {
  const markers = records.filter((record) => isRecordOf(record, "agent_start_run"));
  const violations: string[] = [];
  if ((read("starts") ?? 0) !== markers.length) {
    violations.push(`start callbacks counted ${String(read("starts"))}, ${markers.length} starts are on record`);
  }
  for (const type of STARTED) {
    const told = records.filter((record) => isRecordOf(record, "signal") && record.body.signalType === type).length;
    if (told !== markers.length) violations.push(`${told} signals ${type}, ${markers.length} starts`);
  }
  for (const end of records) {
    if (!isRecordOf(end, "settled") || end.body.outcome !== "completed") continue;
    const { submissionId, answeredBySubmissionId: hostId = submissionId } = end.body;
    const own = markers.filter((marker) => marker.body.submissionId === submissionId);
    if (own.length !== 1) violations.push(`${submissionId} was started ${own.length} times`);
    const input = records.find((record) => isRecordOf(record, "input") && record.body.submissionId === submissionId);
    const answer = records.find(
      (record) =>
        isRecordOf(record, "assistant") &&
        !record.body.interrupted &&
        record.body.submissionId === hostId &&
        record.seq > (input?.seq ?? 0),
    );
    if ((own[0]?.seq ?? 0) > (answer?.seq ?? 0)) violations.push(`${submissionId} was answered before it was started`);
  }
  return violations;
}

function findEndViolations(records: readonly StoredRecord[], read: Read): string[] {
  const cycles = records.filter((record) => isRecordOf(record, "agent_finish_cycle"));
  const violations: string[] = [];
  if ((read("cycles") ?? 0) !== cycles.length) {
    violations.push(`finish callbacks counted ${String(read("cycles"))}, ${cycles.length} cycles are on record`);
  }
  for (const { body } of records.filter((record) => isRecordOf(record, "settled"))) {
    if (body.outcome !== "completed" || body.answeredBySubmissionId !== undefined) continue;
    const { submissionId } = body;
    const own = records.filter((r) => "submissionId" in r.body && r.body.submissionId === submissionId);
    const lastAnswer = own.findLast((record) => isRecordOf(record, "assistant"));
    const closing = own.findLast((record) => isRecordOf(record, "agent_finish_cycle"));
    if (!closing || closing.body.continues || closing.seq < (lastAnswer?.seq ?? 0)) {
      violations.push(`${submissionId} is completed without its closing finish cycle`);
    }
    const closed = own.filter((record) => isRecordOf(record, "agent_finish_cycle") && !record.body.continues);
    const isClosedTwice = closed.some(({ seq }, i) => {
      const before = closed[i - 1]?.seq ?? 0;
      return i > 0 && !own.some((r) => isRecordOf(r, "assistant") && r.seq > before && r.seq < seq);
    });
    if (isClosedTwice) violations.push(`${submissionId} has two closing cycles for one end`);
    const attached = own.filter((record) => isRecordOf(record, "metadata"));
    if (attached.map((record) => record.body.seam).join() !== "response_start,response_finish") {
      violations.push(`${submissionId} has the metadata of ${attached.map((record) => record.body.seam).join()}`);
    }
    const results = own.filter((record) => record.body.type === "tool_result").length;
    const shown = attached.reduce((sum: Metadata, record) => mergeMetadata(sum, record.body.metadata), {});
    if (JSON.stringify(foldResponse(submissionId, own)?.metadata) !== JSON.stringify(shown)) {
      violations.push(`${submissionId} does not show all that was attached to it`);
    }
    const told = JSON.stringify(attached.at(-1)?.body.metadata);
    if (told !== JSON.stringify({ response: { calls: results } })) {
      violations.push(`${submissionId} made ${results} calls, its metadata says ${told}`);
    }
  }
  return violations;
}

/** State is what the recorded results say, no more and no less. */
function findStateViolations(records: readonly StoredRecord[], read: Read): string[] {
  const calls = new Map(
    records
      .filter((record) => isRecordOf(record, "assistant"))
      .flatMap(({ body }) => body.message.content.filter((part) => part.type === "toolCall"))
      .filter((call) => call.name === "tally")
      .map((call) => [call.id, String(call.arguments.command)]),
  );
  const done = records
    .filter((record) => isRecordOf(record, "tool_result"))
    .filter((record) => !record.body.isError)
    .flatMap(({ body }) => calls.get(body.toolCallId) ?? []);
  const violations = SLOTS.flatMap((slot) => {
    const counted = ((read(`slot.${slot}`) ?? []) as string[]).toSorted().join();
    const wanted = done.filter((command) => command.endsWith(String(slot))).toSorted();
    return counted === wanted.join() ? [] : [`slot ${slot} holds ${counted}, results are there of ${wanted.join()}`];
  });
  const last = read("last");
  if (last !== undefined && !done.includes(String(last)))
    violations.push(`the last command ${String(last)} has no result`);
  const data = records.filter((record) => isRecordOf(record, "data")).map((record) => String(record.body.data));
  for (const command of done) {
    if (!data.includes(`did ${command}`)) violations.push(`${command} has a result and its data were never told`);
  }
  return violations;
}
