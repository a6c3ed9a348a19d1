/**
 * The parts of an assistant message, put together exactly as the public clients reduce a stream of chunks, so that a
 * snapshot equals what a live reader holds.
 *
 * Source: contract RUNTIME 1.7, 1.8.
 */
import type { AssistantRecord, DataRecord, ToolResultRecord } from "../../protocol/records.ts";
import type { WirePart } from "../../protocol/wire.ts";
import type { TextPiece } from "../recovery/standing.ts";

function isStreamingText(part: WirePart | undefined): part is Extract<WirePart, { state: "streaming" | "done" }> {
  return (part?.type === "text" || part?.type === "reasoning") && (part as { state: string }).state === "streaming";
}

function closeLast(parts: WirePart[]): void {
  const last = parts.at(-1);
  if (isStreamingText(last)) last.state = "done";
}

/** Extends the last part when it streams the same kind; otherwise opens a new one. */
export function addPiece(parts: WirePart[], piece: TextPiece): void {
  const last = parts.at(-1);
  if (isStreamingText(last) && last.type === piece.kind) {
    last.text += piece.text;
    return;
  }
  closeLast(parts);
  parts.push({ type: piece.kind, text: piece.text, state: "streaming" });
}

export interface CallInput {
  toolCallId: string;
  toolName: string;
  input: unknown;
}

export function addCall(parts: WirePart[], call: CallInput): void {
  closeLast(parts);
  parts.push({
    type: "dynamic-tool",
    toolName: call.toolName,
    toolCallId: call.toolCallId,
    state: "input-available",
    input: call.input,
  });
}

/** The first of a name takes its place behind what is there; a later one replaces its data where it stands. */
export function putData(parts: WirePart[], { name, data }: DataRecord): void {
  const part: WirePart = { type: `data-${name}`, data };
  const index = parts.findIndex((other) => other.type === part.type);
  if (index < 0) parts.push(part);
  else parts[index] = part;
}

export function closeText(parts: WirePart[]): void {
  for (const part of parts) if (isStreamingText(part)) part.state = "done";
}

export function applyResult(parts: WirePart[], result: ToolResultRecord): void {
  const index = parts.findIndex((part) => part.type === "dynamic-tool" && part.toolCallId === result.toolCallId);
  const part = parts[index];
  if (part?.type !== "dynamic-tool") return;
  const { toolName, toolCallId, input } = part;
  const head = { type: "dynamic-tool", toolName, toolCallId } as const;
  const duration = result.durationMs === undefined ? {} : { durationMs: result.durationMs };
  parts[index] = result.isError
    ? { ...head, state: "output-error", input, errorText: result.text, ...duration }
    : { ...head, state: "output-available", input, output: result.text, ...duration };
}

/** The text, reasoning and calls of a completed step, in the order the model wrote them. */
export function contentOf(record: AssistantRecord): (TextPiece | CallInput)[] {
  const content: (TextPiece | CallInput)[] = [];
  for (const part of record.message.content) {
    if (part.type === "text") {
      if (part.text !== "") content.push({ kind: "text", text: part.text });
    } else if (part.type === "thinking") {
      if (part.thinking !== "") content.push({ kind: "reasoning", text: part.thinking });
    } else {
      content.push({ toolCallId: part.id, toolName: part.name, input: part.arguments });
    }
  }
  return content;
}

export function isCall(item: TextPiece | CallInput): item is CallInput {
  return "toolCallId" in item;
}

export function addStep(parts: WirePart[], record: AssistantRecord): void {
  for (const item of contentOf(record)) {
    if (isCall(item)) addCall(parts, item);
    else addPiece(parts, item);
  }
  closeText(parts);
}
