/**
 * What a reader of an updates stream ends up with: the reduction every client makes, written from the contract alone, so
 * that stream and snapshot can be held against each other.
 *
 * Source: contract RUNTIME 1.7, 1.8.
 */
import type { WireChunk, WireMessage, WirePart, WireSettlement } from "../../durable-objects/protocol/wire.ts";

export interface FoldedConversation {
  messages: WireMessage[];
  settlements: WireSettlement[];
}

type TextPart = Extract<WirePart, { type: "text" | "reasoning" }>;
type ToolPart = Extract<WirePart, { type: "dynamic-tool" }>;

function isText(part: WirePart | undefined): part is TextPart {
  return part?.type === "text" || part?.type === "reasoning";
}

function isTool(part: WirePart): part is ToolPart {
  return part.type === "dynamic-tool";
}

function appendDelta(message: WireMessage, kind: TextPart["type"], delta: string): void {
  const last = message.parts.at(-1);
  if (isText(last) && last.type === kind && last.state === "streaming") last.text += delta;
  else message.parts.push({ type: kind, text: delta, state: "streaming" });
}

function finishText(message: WireMessage): void {
  for (const part of message.parts) if (isText(part)) part.state = "done";
}

function putMessage(messages: WireMessage[], message: WireMessage): void {
  const at = messages.findIndex((known) => known.id === message.id);
  if (at >= 0) messages[at] = message;
  else messages.push(message);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function mergeDeep(base: Record<string, unknown>, next: Record<string, unknown>): Record<string, unknown> {
  const merged = Object.entries(next).map(([key, value]): [string, unknown] => {
    const known = base[key];
    return [key, isObject(known) && isObject(value) ? mergeDeep(known, value) : value];
  });
  return { ...base, ...Object.fromEntries(merged) };
}

/** Applies chunks in order; one that was applied before (same position or an earlier one) changes nothing. */
export function foldChunks(chunks: readonly WireChunk[]): FoldedConversation {
  let messages: WireMessage[] = [];
  let settlements: WireSettlement[] = [];
  let last = { batch: -1, index: -1 };
  const find = (id: string) => messages.find((message) => message.id === id);
  const findTool = (id: string) =>
    messages
      .toReversed()
      .flatMap((message) => message.parts)
      .find((part): part is ToolPart => isTool(part) && part.toolCallId === id);

  for (const chunk of structuredClone([...chunks])) {
    if (chunk.type === "stream-checkpoint") continue;
    const { batch, index } = chunk.position;
    if (batch < last.batch || (batch === last.batch && index <= last.index)) continue;
    last = { batch, index };
    switch (chunk.type) {
      case "conversation-reset":
        ({ messages, settlements } = chunk.snapshot);
        break;
      case "message-appended":
        putMessage(messages, chunk.message);
        break;
      case "message-started": {
        if (find(chunk.messageId)) break;
        const { messageId: id, submissionId, turnId } = chunk;
        const origin = { ...(submissionId ? { submissionId } : {}), ...(turnId ? { turnId } : {}) };
        messages.push({ id, role: "assistant", purpose: "assistant", display: "visible", ...origin, parts: [] });
        break;
      }
      case "message-delta": {
        const message = find(chunk.messageId);
        if (message) appendDelta(message, chunk.kind, chunk.delta);
        break;
      }
      case "message-metadata": {
        const message = find(chunk.messageId);
        if (message) message.metadata = mergeDeep(message.metadata ?? {}, chunk.metadata);
        break;
      }
      case "data-part": {
        const parts = find(chunk.messageId)?.parts;
        const part: WirePart = { type: `data-${chunk.name}`, data: chunk.data };
        const at = parts?.findIndex(({ type }) => type === part.type) ?? -1;
        if (at < 0) parts?.push(part);
        else parts?.splice(at, 1, part);
        break;
      }
      case "tool-input": {
        const { toolName, toolCallId, input } = chunk;
        find(chunk.messageId)?.parts.push({
          type: "dynamic-tool",
          toolName,
          toolCallId,
          state: "input-available",
          input,
        });
        break;
      }
      case "tool-output":
      case "tool-output-error": {
        const tool = findTool(chunk.toolCallId);
        if (!tool) break;
        if (chunk.type === "tool-output") Object.assign(tool, { state: "output-available", output: chunk.output });
        else Object.assign(tool, { state: "output-error", errorText: chunk.errorText });
        if (chunk.durationMs !== undefined) tool.durationMs = chunk.durationMs;
        break;
      }
      case "message-completed": {
        const message = find(chunk.messageId);
        if (message) finishText(message);
        break;
      }
      case "submission-settled": {
        const { submissionId, outcome, error, answeredBySubmissionId } = chunk;
        const extra = { ...(error ? { error } : {}), ...(answeredBySubmissionId ? { answeredBySubmissionId } : {}) };
        settlements.push({ submissionId, outcome, ...extra });
        break;
      }
    }
  }
  return { messages, settlements };
}
