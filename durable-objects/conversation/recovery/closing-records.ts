/**
 * The records that leave a submission well-formed when it ends short of its response: the half-written step becomes an
 * interrupted one, every open call gets its one result (T1), and an advisory tells model and reader how it ended.
 *
 * Source: contract RUNTIME 1.7, 2.5, 2.6, 2.8; TOOLS 10, D25.
 */
import type { Fault } from "../../protocol/errors.ts";
import { INTERRUPTED_RESULT } from "../../protocol/interrupted.ts";
import type { AssistantRecord, RecordBody } from "../../protocol/records.ts";
import type { Outcome } from "../../protocol/submission.ts";
import { noUsage } from "../../protocol/usage.ts";
import type { PartialStep, Standing } from "./standing.ts";

export type UnfinishedWork = Pick<Standing, "partial" | "openCalls">;

const ABORTED_RUNNING =
  "The operation was aborted. The tool execution could not be confirmed cancelled and may still be running.";
const ABORTED_UNSTARTED = "Operation aborted";

/** What a step that no longer goes on had written. */
export function interruptedStep(submissionId: string, partial: PartialStep): AssistantRecord {
  return {
    type: "assistant",
    submissionId,
    turnId: partial.turnId,
    interrupted: true,
    message: {
      role: "assistant",
      content: partial.pieces.map((piece) =>
        piece.kind === "text" ? { type: "text", text: piece.text } : { type: "thinking", thinking: piece.text },
      ),
      api: "interrupted",
      provider: "interrupted",
      model: "interrupted",
      usage: noUsage(),
      stopReason: "aborted",
      timestamp: 0,
    },
    deltas: { firstSeq: partial.firstSeq, lastSeq: partial.lastSeq, tail: [] },
  };
}

function advisory(submissionId: string, outcome: Outcome, fault: Fault | undefined): RecordBody {
  const aborted = outcome === "aborted";
  return {
    type: "signal",
    submissionId,
    signalType: aborted ? "submission_aborted" : "submission_interrupted",
    body: aborted
      ? "The request above was aborted before it was answered. Do not take it up again unless asked to."
      : `The request above ended without an answer: ${fault?.message ?? "it failed"}`,
  };
}

/** Ends the step that was being written and gives every open call its result. */
export function openWorkRecords(submissionId: string, standing: UnfinishedWork, outcome: Outcome): RecordBody[] {
  const records: RecordBody[] = [];
  if (standing.partial) records.push(interruptedStep(submissionId, standing.partial));
  for (const { call, started } of standing.openCalls) {
    const aborted = started ? ABORTED_RUNNING : ABORTED_UNSTARTED;
    records.push({
      type: "tool_result",
      submissionId,
      toolCallId: call.id,
      toolName: call.name,
      text: outcome === "aborted" ? aborted : INTERRUPTED_RESULT,
      isError: true,
    });
  }
  return records;
}

export function closingRecords(
  submissionId: string,
  standing: UnfinishedWork,
  outcome: Outcome,
  fault: Fault | undefined,
): RecordBody[] {
  return [...openWorkRecords(submissionId, standing, outcome), advisory(submissionId, outcome, fault)];
}
