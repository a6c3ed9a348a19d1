/** Anthropic's Messages: named events of one message, block by block. */
import type { EventWriter } from "./event-writer.ts";
import { checkMessagesRequest } from "./messages-check.ts";
import { argumentsText, type ModelTurn, type RecordedRequest, type ScriptedCall } from "./script.ts";
import type { WireProtocol } from "./wire-protocol.ts";

const DEFAULT_USAGE = { input: 100, output: 20 };

/** Stop reasons of a script are those of chat completions; any other is sent as it is. */
const STOP_WORDS: Readonly<Record<string, string>> = {
  stop: "end_turn",
  length: "max_tokens",
  tool_calls: "tool_use",
  content_filter: "refusal",
};

type Event = { type: string } & Record<string, unknown>;

function send(writer: EventWriter, event: Event): void {
  writer.event(event, event.type);
}

function stopOf(turn: ModelTurn): string {
  const stop = turn.stop ?? (turn.calls?.length ? "tool_calls" : "stop");
  return STOP_WORDS[stop] ?? stop;
}

function usageOf({ usage = DEFAULT_USAGE }: ModelTurn, part: "input" | "output"): Record<string, number> | null {
  return usage === null ? null : { [`${part}_tokens`]: usage[part] };
}

/** Blocks are numbered: reasoning first, then text, then the calls. */
function blocksBefore(turn: ModelTurn): { text: number; calls: number } {
  const text = turn.reasoning ? 1 : 0;
  return { text, calls: text + (hasText(turn) ? 1 : 0) };
}

function hasText({ text }: ModelTurn): boolean {
  return typeof text === "string" ? text !== "" : (text ?? []).length > 0;
}

function begin(index: number, content_block: Record<string, unknown>): Event {
  return { type: "content_block_start", index, content_block };
}

function add(index: number, delta: Record<string, unknown>): Event {
  return { type: "content_block_delta", index, delta };
}

function end(index: number): Event {
  return { type: "content_block_stop", index };
}

/** A call in pieces, without the event that ends it. */
function piecesOf(call: ScriptedCall, index: number): Event[] {
  const text = argumentsText(call);
  const half = Math.floor(text.length / 2);
  return [
    begin(index, { type: "tool_use", id: call.id, name: call.name, input: {} }),
    add(index, { type: "input_json_delta", partial_json: text.slice(0, half) }),
    add(index, { type: "input_json_delta", partial_json: text.slice(half) }),
  ];
}

async function streamText(writer: EventWriter, request: RecordedRequest, turn: ModelTurn): Promise<void> {
  const { number, body } = request;
  const head = { id: `msg_${number}`, type: "message", role: "assistant", model: body.model, content: [] };
  send(writer, { type: "message_start", message: { ...head, stop_reason: null, usage: usageOf(turn, "input") } });
  send(writer, { type: "ping" });
  if (turn.reasoning) {
    send(writer, begin(0, { type: "thinking", thinking: "", signature: "" }));
    send(writer, add(0, { type: "thinking_delta", thinking: turn.reasoning }));
    send(writer, add(0, { type: "signature_delta", signature: `signature-${number}` }));
    send(writer, end(0));
  }
  if (!hasText(turn)) return;
  const at = blocksBefore(turn).text;
  send(writer, begin(at, { type: "text", text: "" }));
  for (const piece of typeof turn.text === "string" ? [turn.text] : (turn.text ?? [])) {
    if (writer.isGone) return;
    if (typeof piece === "string") send(writer, add(at, { type: "text_delta", text: piece }));
    else await writer.pause(piece);
  }
}

export const messagesProtocol: WireProtocol = {
  path: /\/v1\/messages$/,
  check: checkMessagesRequest,
  streamText,
  streamHalfCall(writer, _request, turn) {
    const { text, calls } = blocksBefore(turn);
    if (hasText(turn)) send(writer, end(text));
    for (const event of (turn.calls ?? []).slice(0, 1).flatMap((call) => piecesOf(call, calls).slice(0, -1))) {
      send(writer, event);
    }
  },
  streamEnd(writer, _request, turn) {
    const { text, calls } = blocksBefore(turn);
    if (hasText(turn)) send(writer, end(text));
    turn.calls?.forEach((call, index) => {
      for (const event of [...piecesOf(call, calls + index), end(calls + index)]) send(writer, event);
    });
    const usage = usageOf(turn, "output");
    send(writer, { type: "message_delta", delta: { stop_reason: stopOf(turn), stop_sequence: null }, usage });
    send(writer, { type: "message_stop" });
  },
  streamFault: (writer, error) => send(writer, { type: "error", error }),
};
