/**
 * Plays a scripted turn as a provider would stream it: the same events, in the same order, without a network.
 *
 * Source: contract RUNTIME 9 (`scripted/demo`, `scripted/test`); pi-ai's event protocol.
 */
import type { StreamFn } from "@earendil-works/pi-agent-core";
import type { AssistantMessage, Message, ToolCall } from "@earendil-works/pi-ai";
import { AssistantMessageEventStream } from "@earendil-works/pi-ai/utils/event-stream";
import { emptyMessage } from "./empty-message.ts";

export interface ScriptedCall {
  id: string;
  name: string;
  arguments: ToolCall["arguments"];
  /** Why the arguments could not be read; the call then fails its validation. */
  argumentsError?: string;
}

export interface ScriptedTurn {
  thinking?: string;
  text?: string;
  calls?: ScriptedCall[];
  /** Default: `toolUse` with calls, else `stop`. `error` needs `errorMessage`. */
  stopReason?: "stop" | "length" | "toolUse" | "error";
  errorMessage?: string;
  /** Input tokens reported. Default: a quarter of the characters sent. */
  inputTokens?: number;
  /** The turn begins when this has resolved. */
  gate?: Promise<void>;
}

const DELTA_CHARS = 24;
const CHARS_PER_TOKEN = 4;

/** Pieces of about `DELTA_CHARS` characters, no character cut in two. */
function pieces(text: string): string[] {
  const characters = Array.from(text);
  const parts: string[] = [];
  for (let at = 0; at < characters.length; at += DELTA_CHARS)
    parts.push(characters.slice(at, at + DELTA_CHARS).join(""));
  return parts;
}

function textLength(message: Message): number {
  if (typeof message.content === "string") return message.content.length;
  let length = 0;
  for (const part of message.content) if (part.type === "text") length += part.text.length;
  return length;
}

function streamText(stream: AssistantMessageEventStream, partial: AssistantMessage, text: string): void {
  const block = { type: "text" as const, text: "" };
  const contentIndex = partial.content.push(block) - 1;
  stream.push({ type: "text_start", contentIndex, partial });
  for (const delta of pieces(text)) {
    block.text += delta;
    stream.push({ type: "text_delta", contentIndex, delta, partial });
  }
  stream.push({ type: "text_end", contentIndex, content: block.text, partial });
}

function streamThinking(stream: AssistantMessageEventStream, partial: AssistantMessage, thinking: string): void {
  const block = { type: "thinking" as const, thinking: "" };
  const contentIndex = partial.content.push(block) - 1;
  stream.push({ type: "thinking_start", contentIndex, partial });
  for (const delta of pieces(thinking)) {
    block.thinking += delta;
    stream.push({ type: "thinking_delta", contentIndex, delta, partial });
  }
  stream.push({ type: "thinking_end", contentIndex, content: block.thinking, partial });
}

function streamCall(stream: AssistantMessageEventStream, partial: AssistantMessage, call: ScriptedCall): void {
  const block: ToolCall = { type: "toolCall", id: call.id, name: call.name, arguments: {} };
  const contentIndex = partial.content.push(block) - 1;
  stream.push({ type: "toolcall_start", contentIndex, partial });
  for (const delta of pieces(JSON.stringify(call.arguments))) {
    stream.push({ type: "toolcall_delta", contentIndex, delta, partial });
  }
  block.arguments = call.arguments;
  if (call.argumentsError !== undefined) block.argumentsError = call.argumentsError;
  stream.push({ type: "toolcall_end", contentIndex, toolCall: block, partial });
}

function fillUsage(message: AssistantMessage, messages: readonly Message[], inputTokens: number | undefined): void {
  const sent = messages.reduce((sum, each) => sum + textLength(each), 0);
  message.usage.input = inputTokens ?? Math.ceil(sent / CHARS_PER_TOKEN);
  message.usage.output = Math.ceil(JSON.stringify(message.content).length / CHARS_PER_TOKEN);
  message.usage.totalTokens = message.usage.input + message.usage.output;
}

function fail(
  stream: AssistantMessageEventStream,
  message: AssistantMessage,
  reason: "error" | "aborted",
  text: string,
): void {
  message.stopReason = reason;
  message.errorMessage = text;
  stream.push({ type: "error", reason, error: message });
  stream.end(message);
}

function play(
  stream: AssistantMessageEventStream,
  message: AssistantMessage,
  turn: ScriptedTurn,
  messages: readonly Message[],
): void {
  stream.push({ type: "start", partial: message });
  if (turn.thinking !== undefined) streamThinking(stream, message, turn.thinking);
  if (turn.text !== undefined && turn.text !== "") streamText(stream, message, turn.text);
  for (const call of turn.calls ?? []) streamCall(stream, message, call);
  fillUsage(message, messages, turn.inputTokens);
  const reason = turn.stopReason ?? ((turn.calls ?? []).length > 0 ? "toolUse" : "stop");
  if (reason === "error") {
    fail(stream, message, "error", turn.errorMessage ?? "Scripted error");
    return;
  }
  message.stopReason = reason;
  stream.push({ type: "done", reason, message });
  stream.end(message);
}

/** Resolves when the gate opens, at once without one, and early when the request is aborted. */
function opened(gate: Promise<void> | undefined, signal: AbortSignal | undefined): Promise<void> {
  if (gate === undefined || signal?.aborted) return Promise.resolve();
  return new Promise((resolve, reject) => {
    signal?.addEventListener("abort", () => resolve(), { once: true });
    gate.then(resolve, reject);
  });
}

/** A stream function that asks `nextTurn` what to say; a throw there is a failed response. */
export function createScriptedStream(nextTurn: (messages: readonly Message[]) => ScriptedTurn): StreamFn {
  return (model, context, options) => {
    const stream = new AssistantMessageEventStream();
    const message = emptyMessage(model, "pending", Date.now());
    const run = async () => {
      const turn = nextTurn(context.messages);
      await opened(turn.gate, options?.signal);
      if (options?.signal?.aborted) fail(stream, message, "aborted", "Request was aborted");
      else play(stream, message, turn, context.messages);
    };
    run().catch((error) => fail(stream, message, "error", error instanceof Error ? error.message : String(error)));
    return stream;
  };
}
