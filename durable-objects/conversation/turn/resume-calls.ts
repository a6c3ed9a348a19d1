/**
 * Closes what a crash left open, from records: the half-written step, then every call without a result, each by its
 * tool's replay policy.
 *
 * Source: contract RUNTIME 2.5, 2.6.
 */
import { runToolCall } from "@earendil-works/pi-agent-core";
import type { AssistantMessage } from "@earendil-works/pi-ai";
import type { Sandbox } from "../../../containers/sandbox.ts";
import { INTERRUPTED_RESULT } from "../../protocol/interrupted.ts";
import type { AssistantRecord, RecordBody } from "../../protocol/records.ts";
import { isRecordOf } from "../../protocol/records.ts";
import type { DurableTool, ReplayPolicy } from "../../tools/define-tool.ts";
import { interruptedStep } from "../recovery/closing-records.ts";
import { type OpenCall, type PartialStep, standingOf } from "../recovery/standing.ts";
import { isWorkspaceLost } from "./environment.ts";
import type { AttemptPorts } from "./ports.ts";
import { toolResultRecord } from "./tool-result.ts";

/**
 * Policies under which a started call may run once more: it has no effect, its key finds the first run, or its notes tell
 * what was done.
 */
const SAFE_TO_RUN_AGAIN: readonly ReplayPolicy[] = ["rerun", "reattach", "reconcile", "steps"];

/** Where the workspace is gone, a key finds nothing any more and would run the command a second time. */
const SAFE_IN_ANOTHER_WORKSPACE: readonly ReplayPolicy[] = ["rerun", "reconcile", "steps"];

/** Ends the step that was being written when the attempt before was cut. */
export function closePartialStep(ports: AttemptPorts): void {
  const { submissionId, journal } = ports;
  const { partial } = standingOf(journal.readSubmission());
  if (partial) journal.append(partialRecords(submissionId, partial));
}

function partialRecords(submissionId: string, partial: PartialStep): RecordBody[] {
  const isBlank = partial.pieces.every((piece) => piece.text.trim() === "");
  if (isBlank) {
    const { turnId, firstSeq, lastSeq } = partial;
    const reason = "The step was interrupted before it said anything.";
    return [{ type: "assistant_discarded", submissionId, turnId, reason, deltas: { firstSeq, lastSeq, tail: [] } }];
  }
  return [
    interruptedStep(submissionId, partial),
    {
      type: "signal",
      submissionId,
      signalType: "stream_interrupted",
      body: "The response above was interrupted before it was complete.",
    },
    {
      type: "signal",
      submissionId,
      signalType: "stream_continued",
      body: "Continue the response from where it stopped. Do not repeat what was already said.",
    },
  ];
}

/** Gives every open call its one result, the safe ones side by side. True when the response is complete with that. */
export async function resumeOpenCalls(
  ports: AttemptPorts,
  tools: readonly DurableTool[],
  sandbox: Sandbox | undefined,
): Promise<boolean> {
  const { journal } = ports;
  const records = journal.readSubmission();
  const { openCalls } = standingOf(records);
  const last = records.filter((record) => isRecordOf(record, "assistant")).at(-1);
  if (last && openCalls.length > 0) {
    const isStarted = openCalls.some((open) => open.started);
    const safe = isStarted && (await isWorkspaceLost(ports, sandbox)) ? SAFE_IN_ANOTHER_WORKSPACE : SAFE_TO_RUN_AGAIN;
    await Promise.all(openCalls.map((open) => resumeCall(ports, tools, safe, last.body, open)));
  }
  return standingOf(journal.readSubmission()).completed;
}

async function resumeCall(
  ports: AttemptPorts,
  tools: readonly DurableTool[],
  safe: readonly ReplayPolicy[],
  step: AssistantRecord,
  open: OpenCall,
): Promise<void> {
  const { submissionId, attempt, journal, signal } = ports;
  const { call, started } = open;
  const head = { submissionId, toolCallId: call.id, toolName: call.name };
  if (step.message.stopReason === "length") {
    const text = `Tool call "${call.name}" was not executed: the response hit the output token limit, so its arguments may be truncated. Re-issue the tool call with complete arguments.`;
    journal.append([{ type: "tool_result", ...head, text, isError: true }]);
    return;
  }
  const policy = tools.find((tool) => tool.name === call.name)?.replayPolicy ?? "unknown";
  if (started && tools.some((tool) => tool.name === call.name) && !safe.includes(policy)) {
    journal.append([{ type: "tool_result", ...head, text: INTERRUPTED_RESULT, isError: true }]);
    return;
  }
  if (!started) journal.append([{ type: "tool_started", ...head, attempt }]);
  const assistantMessage: AssistantMessage = step.message;
  const { result, isError, durationMs } = await runToolCall(call, {
    tools,
    assistantMessage,
    context: { messages: [], tools: [...tools] },
    signal,
  });
  const ended = { ...head, result, isError, ...(durationMs !== undefined && { durationMs }) };
  journal.append([toolResultRecord(submissionId, ended)]);
}
