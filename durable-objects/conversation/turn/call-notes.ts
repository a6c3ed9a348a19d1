/**
 * Notes that calls leave in the journal while they run, for the same call run again after a crash: the intent of a write,
 * the steps of a durable tool.
 *
 * What earlier attempts left is read once; what this one leaves is only written.
 *
 * Source: contract RUNTIME 2.6.
 */
import { isRecordOf } from "../../protocol/records.ts";
import type { StepNotes } from "../../tools/define-tool.ts";
import type { IntentNotes } from "../../tools/index.ts";
import type { AttemptPorts } from "./ports.ts";

export interface CallNotes {
  intents: IntentNotes;
  steps: StepNotes;
}

export function createCallNotes({ submissionId, journal }: AttemptPorts): CallNotes {
  const records = journal.readSubmission();
  const intents = new Map(
    records.filter((record) => isRecordOf(record, "tool_intent")).map(({ body }) => [body.toolCallId, body]),
  );
  const stepKey = (toolCallId: string, name: string): string => `${toolCallId}\n${name}`;
  const steps = new Map(
    records
      .filter((record) => isRecordOf(record, "tool_step"))
      .map(({ body }) => [stepKey(body.toolCallId, body.name), body]),
  );
  return {
    intents: {
      find: (toolCallId) => intents.get(toolCallId),
      record(toolCallId, intent) {
        journal.append([{ type: "tool_intent", submissionId, toolCallId, ...intent }]);
      },
    },
    steps: {
      find(toolCallId, name) {
        const step = steps.get(stepKey(toolCallId, name));
        return step && { output: step.output };
      },
      record(toolCallId, name, output) {
        journal.append([
          { type: "tool_step", submissionId, toolCallId, name, ...(output !== undefined && { output }) },
        ]);
      },
    },
  };
}
