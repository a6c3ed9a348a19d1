/**
 * Writes one scripted turn as the OpenAI protocol says: server-sent chunks, or one object for a caller that does not
 * stream.
 */
import type { ServerResponse } from "node:http";
import type { ModelTurn, Pause, RecordedRequest, ScriptedCall } from "./script.ts";

const DEFAULT_USAGE = { input: 100, output: 20 };

/** Ends early when the caller is gone. */
export async function pauseFor(pause: Pause, response: ServerResponse): Promise<void> {
  if (response.destroyed) return;
  const { promise: gone, resolve } = Promise.withResolvers<void>();
  response.once("close", resolve);
  const timer = "waitMs" in pause ? setTimeout(resolve, pause.waitMs) : undefined;
  await Promise.race([gone, ...("gate" in pause ? [pause.gate] : [])]);
  clearTimeout(timer);
  response.off("close", resolve);
}

function argumentsText(call: ScriptedCall): string {
  return typeof call.arguments === "string" ? call.arguments : JSON.stringify(call.arguments);
}

function stopOf(turn: ModelTurn): string {
  return turn.stop ?? (turn.calls?.length ? "tool_calls" : "stop");
}

function usageOf(turn: ModelTurn): Record<string, number> {
  const { input, output } = turn.usage ?? DEFAULT_USAGE;
  return { prompt_tokens: input, completion_tokens: output, total_tokens: input + output };
}

function head(request: RecordedRequest, object: string): Record<string, unknown> {
  return { id: `chatcmpl-${request.number}`, object, created: 1, model: request.body.model ?? "" };
}

/** The whole turn as one object. */
export function renderCompletion(request: RecordedRequest, turn: ModelTurn): string {
  const pieces = typeof turn.text === "string" ? [turn.text] : (turn.text ?? []);
  const text = pieces.filter((piece) => typeof piece === "string").join("");
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

/** Reasoning and text; the caller decides how the answer goes on. */
export async function streamText(response: ServerResponse, request: RecordedRequest, turn: ModelTurn): Promise<void> {
  const write = chunkWriter(response, request);
  write({ role: "assistant", content: "" });
  if (turn.reasoning) write({ reasoning_content: turn.reasoning });
  for (const piece of typeof turn.text === "string" ? [turn.text] : (turn.text ?? [])) {
    if (response.destroyed) return;
    if (typeof piece === "string") write({ content: piece });
    else await pauseFor(piece, response);
  }
}

/** Calls, each in two pieces as real servers send them, then stop reason and usage. */
export function streamEnd(response: ServerResponse, request: RecordedRequest, turn: ModelTurn): void {
  const write = chunkWriter(response, request);
  turn.calls?.forEach((call, index) => {
    const text = argumentsText(call);
    const half = Math.floor(text.length / 2);
    const first = {
      index,
      id: call.id,
      type: "function",
      function: { name: call.name, arguments: text.slice(0, half) },
    };
    write({ tool_calls: [first] });
    write({ tool_calls: [{ index, function: { arguments: text.slice(half) } }] });
  });
  write({}, stopOf(turn));
  const usage = { ...head(request, "chat.completion.chunk"), choices: [], usage: usageOf(turn) };
  response.write(`data: ${JSON.stringify(usage)}\n\ndata: [DONE]\n\n`);
}

function chunkWriter(response: ServerResponse, request: RecordedRequest) {
  return (delta: Record<string, unknown>, finish: string | null = null): void => {
    const choices = [{ index: 0, delta, finish_reason: finish }];
    response.write(`data: ${JSON.stringify({ ...head(request, "chat.completion.chunk"), choices })}\n\n`);
  };
}
