/**
 * Chunks of chat completions as pi reads them, from servers that take liberties with the protocol. What is mended here
 * would otherwise be lost, or make two calls into one.
 *
 * Source: contract RUNTIME 9.
 */
import { parseJsonObject } from "./json-object.ts";
import type { EventMender } from "./mend-event-stream.ts";
import { readStopReason, type StopMeaning } from "./stop-reason.ts";

interface ToolCallDelta {
  index?: unknown;
  id?: unknown;
  function?: { name?: unknown; arguments?: unknown } | null;
}

interface Delta {
  content?: unknown;
  refusal?: unknown;
  tool_calls?: unknown;
}

interface Choice {
  delta?: Delta | null;
  /** Of a server that sends the whole answer as one event. */
  message?: Delta;
  finish_reason?: unknown;
}

/** A call as it was begun: which place it was given, what has come of it. */
interface BegunCall {
  place: number;
  /** As the server calls it. */
  id: string;
  /** As pi is told: empty where another call of the response has the id. */
  ownId: string;
  text: string;
}

/** Reasons that pi reads as they are. */
const KNOWN_REASONS: readonly string[] = ["stop", "end", "length", "function_call", "tool_calls", "content_filter"];
/** A reason that is none of these stays as it is: pi reports it as a fault. */
const REASON_OF: Readonly<Partial<Record<StopMeaning, string>>> = {
  finished: "stop",
  length: "length",
  refused: "content_filter",
};

/** Gives each call a place of its own: some servers number all of them 0, some none, some repeat an id. */
function createCallPlacer(): (call: ToolCallDelta) => void {
  const byIndex = new Map<number, BegunCall>();
  const taken = new Set<string>();
  let last: BegunCall | undefined;
  let places = 0;

  function begin(id: string): BegunCall {
    last = { place: places++, id, ownId: "", text: "" };
    return last;
  }

  function find(call: ToolCallDelta, id: string): BegunCall {
    const { index } = call;
    const isNamed = Boolean(call.function?.name);
    if (typeof index === "number") {
      const known = byIndex.get(index);
      const isAnother = known && isNamed && id !== "" && known.id !== "" && id !== known.id;
      if (known && !isAnother) return known;
      const begun = begin(id);
      byIndex.set(index, begun);
      return begun;
    }
    const isOfLast = last && (!isNamed || (id !== "" && id === last.id && parseJsonObject(last.text) === undefined));
    return last && isOfLast ? last : begin(id);
  }

  return (call) => {
    const id = typeof call.id === "string" ? call.id : "";
    const begun = find(call, id);
    if (begun.id === "") begun.id = id;
    if (begun.ownId === "" && !taken.has(id)) begun.ownId = id;
    taken.add(begun.ownId);
    call.index = begun.place;
    call.id = begun.ownId;
    const part = call.function;
    if (!part) return;
    if (typeof part.arguments === "object" && part.arguments !== null) part.arguments = JSON.stringify(part.arguments);
    if (typeof part.arguments === "string") begun.text += part.arguments;
  };
}

function textOf(content: unknown): unknown {
  if (!Array.isArray(content)) return content;
  return content.map((part: { text?: unknown }) => (typeof part?.text === "string" ? part.text : "")).join("");
}

export function createChatChunkMender(): EventMender {
  const place = createCallPlacer();
  return ({ choices }) => {
    if (!Array.isArray(choices)) return;
    const choice: Choice | undefined = choices[0];
    if (!choice) return;
    if (choice.message && !choice.delta) choice.delta = choice.message;
    if (choice.delta) {
      const { delta } = choice;
      delta.content = textOf(delta.content);
      // A refusal in words is what the model has to say.
      if (typeof delta.refusal === "string" && !delta.content) delta.content = delta.refusal;
      if (Array.isArray(delta.tool_calls)) for (const call of delta.tool_calls) place(call);
    }
    const reason = choice.finish_reason;
    if (typeof reason === "string" && !KNOWN_REASONS.includes(reason)) {
      choice.finish_reason = REASON_OF[readStopReason(reason)] ?? reason;
    }
  };
}
