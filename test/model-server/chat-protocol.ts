/** OpenAI's chat completions: server-sent chunks, or one object for a caller that does not stream. */
import { checkChatRequest } from "./chat-check.ts";
import type { EventWriter } from "./event-writer.ts";
import { argumentsText, type ModelTurn, type RecordedRequest, spokenText } from "./script.ts";
import type { WireProtocol } from "./wire-protocol.ts";

const DEFAULT_USAGE = { input: 100, output: 20 };

function stopOf(turn: ModelTurn): string {
  return turn.stop ?? (turn.calls?.length ? "tool_calls" : "stop");
}

function usageOf({ usage = DEFAULT_USAGE }: ModelTurn): Record<string, number> | null {
  if (usage === null) return null;
  const { input, output } = usage;
  return { prompt_tokens: input, completion_tokens: output, total_tokens: input + output };
}

function head(request: RecordedRequest, object: string): Record<string, unknown> {
  return { id: `chatcmpl-${request.number}`, object, created: 1, model: request.body.model ?? "" };
}

function renderWhole(request: RecordedRequest, turn: ModelTurn): string {
  const text = spokenText(turn);
  const calls = turn.calls?.map((call) => ({
    id: call.id,
    type: "function",
    function: { name: call.name, arguments: argumentsText(call) },
  }));
  const message = { role: "assistant", content: text || null, ...(calls?.length ? { tool_calls: calls } : {}) };
  return JSON.stringify({
    ...head(request, "chat.completion"),
    choices: [{ index: 0, finish_reason: stopOf(turn), message }],
    usage: usageOf(turn),
  });
}

function chunkWriter(writer: EventWriter, request: RecordedRequest) {
  return (delta: Record<string, unknown>, finish: string | null = null): void => {
    const choices = [{ index: 0, delta, finish_reason: finish }];
    writer.event({ ...head(request, "chat.completion.chunk"), choices });
  };
}

/** A call in two pieces, as real servers send them. */
function piecesOf(turn: ModelTurn, index: number): Record<string, unknown>[] {
  const call = turn.calls?.[index];
  if (!call) return [];
  const text = argumentsText(call);
  const half = Math.floor(text.length / 2);
  const begun = { name: call.name, arguments: text.slice(0, half) };
  return [
    { index, id: call.id, type: "function", function: begun },
    { index, function: { arguments: text.slice(half) } },
  ];
}

export const chatProtocol: WireProtocol = {
  path: /\/chat\/completions$/,
  check: checkChatRequest,
  renderWhole,
  async streamText(writer, request, turn) {
    const write = chunkWriter(writer, request);
    write({ role: "assistant", content: "" });
    if (turn.reasoning) write({ reasoning_content: turn.reasoning });
    for (const piece of typeof turn.text === "string" ? [turn.text] : (turn.text ?? [])) {
      if (writer.isGone) return;
      if (typeof piece === "string") write({ content: piece });
      else await writer.pause(piece);
    }
  },
  streamHalfCall(writer, request, turn) {
    chunkWriter(writer, request)({ tool_calls: piecesOf(turn, 0).slice(0, 1) });
  },
  streamEnd(writer, request, turn) {
    const write = chunkWriter(writer, request);
    turn.calls?.forEach((_call, index) => {
      for (const piece of piecesOf(turn, index)) write({ tool_calls: [piece] });
    });
    write({}, stopOf(turn));
    writer.event({ ...head(request, "chat.completion.chunk"), choices: [], usage: usageOf(turn) });
    writer.event("[DONE]");
  },
  streamFault: (writer, error) => writer.event({ error }),
};
