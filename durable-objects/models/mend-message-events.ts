/**
 * Events of Anthropic's Messages protocol as pi reads them, from gateways that take liberties with it.
 *
 * Source: contract RUNTIME 9.
 */
import type { EventMender } from "./mend-event-stream.ts";
import { readStopReason, type StopMeaning } from "./stop-reason.ts";

interface MessageEvent {
  type?: string;
  index?: number;
  message?: { usage?: unknown };
  content_block?: { type?: string; id?: unknown; name?: unknown };
  delta?: { type?: string; stop_reason?: unknown };
}

/** Reasons that pi reads as they are. */
const KNOWN_REASONS: readonly string[] = [
  ...["end_turn", "max_tokens", "tool_use", "refusal", "pause_turn", "stop_sequence", "sensitive"],
];
/** A reason that is none of these stays as it is: pi reports it as a fault. */
const REASON_OF: Readonly<Partial<Record<StopMeaning, string>>> = {
  finished: "end_turn",
  length: "max_tokens",
  refused: "refusal",
};

export function createMessageEventMender(): EventMender {
  /** Calls whose arguments are still being sent. */
  const open = new Set<number | undefined>();
  return (value) => {
    const event = value as MessageEvent;
    if (event.type === "message_start") {
      event.message ??= {};
      event.message.usage ??= {};
    } else if (event.type === "content_block_start" && event.content_block?.type === "tool_use") {
      const block = event.content_block;
      block.id ??= "";
      block.name ??= "";
      open.add(event.index);
    } else if (event.type === "content_block_stop") {
      open.delete(event.index);
    } else if (event.type === "message_delta") {
      event.delta ??= {};
      const reason = event.delta.stop_reason;
      if (typeof reason === "string" && !KNOWN_REASONS.includes(reason)) {
        event.delta.stop_reason = REASON_OF[readStopReason(reason)] ?? reason;
      }
    } else if (event.type === "message_stop" && open.size > 0) {
      // pi would run the call with what has come of its arguments.
      throw new Error("The message ended inside of a tool call.");
    }
  };
}
