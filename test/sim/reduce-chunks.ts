/** What a client makes of an updates stream, by the rules of the contract (RUNTIME 1.8). */
import type { WireChunk, WireMessage, WirePart } from "../../durable-objects/protocol/wire.ts";

interface ReducedConversation {
  messages: WireMessage[];
  settlements: string[];
}

function isText(part: WirePart | undefined): part is Extract<WirePart, { state: "streaming" | "done" }> {
  return part?.type === "text" || part?.type === "reasoning";
}

function closeLast(parts: WirePart[]): void {
  const last = parts.at(-1);
  if (isText(last)) last.state = "done";
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function merge(base: Record<string, unknown>, next: Record<string, unknown>): Record<string, unknown> {
  const merged = { ...base };
  for (const [key, value] of Object.entries(next)) {
    const known = merged[key];
    merged[key] = isObject(known) && isObject(value) ? merge(known, value) : value;
  }
  return merged;
}

export function reduceChunks(
  chunks: readonly unknown[],
  from: ReducedConversation = { messages: [], settlements: [] },
) {
  const { messages, settlements } = structuredClone(from);
  const find = (id: string): WireMessage | undefined => messages.find((message) => message.id === id);
  const findCall = (id: string): { parts: WirePart[]; index: number } | undefined => {
    for (const { parts } of messages) {
      const index = parts.findIndex((part) => part.type === "dynamic-tool" && part.toolCallId === id);
      if (index >= 0) return { parts, index };
    }
    return undefined;
  };
  for (const chunk of chunks as WireChunk[]) {
    if (chunk.type === "message-appended") {
      const index = messages.findIndex((message) => message.id === chunk.message.id);
      if (index < 0) messages.push(structuredClone(chunk.message));
      else messages[index] = structuredClone(chunk.message);
    } else if (chunk.type === "message-started" && !find(chunk.messageId)) {
      const { messageId: id, submissionId, turnId } = chunk;
      const head = { id, role: "assistant", purpose: "assistant", display: "visible" } as const;
      messages.push({ ...head, ...(submissionId && { submissionId }), ...(turnId && { turnId }), parts: [] });
    } else if (chunk.type === "message-metadata") {
      const message = find(chunk.messageId);
      if (message) message.metadata = merge(message.metadata ?? {}, chunk.metadata);
    } else if (chunk.type === "data-part") {
      const parts = find(chunk.messageId)?.parts ?? [];
      const part: WirePart = { type: `data-${chunk.name}`, data: chunk.data };
      const index = parts.findIndex((other) => other.type === part.type);
      if (index < 0) parts.push(part);
      else parts[index] = part;
    } else if (chunk.type === "message-delta") {
      const parts = find(chunk.messageId)?.parts ?? [];
      const last = parts.at(-1);
      if (isText(last) && last.type === chunk.kind && last.state === "streaming") last.text += chunk.delta;
      else {
        closeLast(parts);
        parts.push({ type: chunk.kind, text: chunk.delta, state: "streaming" });
      }
    } else if (chunk.type === "tool-input") {
      const parts = find(chunk.messageId)?.parts ?? [];
      closeLast(parts);
      const { toolName, toolCallId, input } = chunk;
      parts.push({ type: "dynamic-tool", toolName, toolCallId, state: "input-available", input });
    } else if (chunk.type === "tool-output" || chunk.type === "tool-output-error") {
      const place = findCall(chunk.toolCallId);
      const part = place?.parts[place.index];
      if (place && part?.type === "dynamic-tool") {
        const { toolName, toolCallId, input } = part;
        const head = { type: "dynamic-tool", toolName, toolCallId } as const;
        const duration = chunk.durationMs === undefined ? {} : { durationMs: chunk.durationMs };
        place.parts[place.index] =
          chunk.type === "tool-output"
            ? { ...head, state: "output-available", input, output: chunk.output, ...duration }
            : { ...head, state: "output-error", input, errorText: chunk.errorText, ...duration };
      }
    } else if (chunk.type === "message-completed") {
      for (const part of find(chunk.messageId)?.parts ?? []) if (isText(part)) part.state = "done";
    } else if (chunk.type === "submission-settled") {
      settlements.push(chunk.submissionId);
    }
  }
  return { messages, settlements };
}
