/** What a tool gave, as the record of its one result. */
import type { AgentToolResult } from "@earendil-works/pi-agent-core";
import type { ToolResultRecord } from "../../protocol/records.ts";

export interface EndedCall {
  toolCallId: string;
  toolName: string;
  result: AgentToolResult<unknown>;
  isError: boolean;
  durationMs?: number;
}

export function toolResultRecord(submissionId: string, ended: EndedCall): ToolResultRecord {
  const { toolCallId, toolName, result, isError, durationMs } = ended;
  const text = result.content.map((part) => (part.type === "text" ? part.text : "")).join("");
  const record: ToolResultRecord = {
    type: "tool_result",
    submissionId,
    toolCallId,
    toolName,
    text: text.toWellFormed(),
    isError,
  };
  if (result.details !== undefined) record.details = result.details;
  if (durationMs !== undefined) record.durationMs = durationMs;
  if (result.terminate === true) record.terminate = true;
  return record;
}
