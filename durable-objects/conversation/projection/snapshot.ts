/**
 * The snapshot of a conversation as JSON text in pieces, from records read page by page: what is held at once is one
 * response, never the history (B2).
 *
 * Source: contract RUNTIME 1.7.
 */
import type { StoredRecord } from "../../protocol/records.ts";
import type { WireMessage } from "../../protocol/wire.ts";
import { ResponseFold, renderInput, renderSettlement, renderSignal } from "./render-message.ts";

export interface SnapshotHead {
  conversationId: string;
  offset: string;
  incarnation: string;
}

interface OpenResponse {
  submissionId: string;
  fold: ResponseFold;
}

/** @param records all records up to the snapshot's offset, in order. */
export function* renderSnapshot(head: SnapshotHead, records: Iterable<StoredRecord>): Generator<string> {
  const { conversationId, offset, incarnation } = head;
  const opening = JSON.stringify({ v: 1, conversationId, offset, incarnation });
  yield `${opening.slice(0, -1)},"messages":[`;
  const settlements: string[] = [];
  // The response being put together, and what must wait behind it to keep the order.
  let open: OpenResponse | undefined;
  let waiting: WireMessage[] = [];
  let separator = "";

  function* emit(message: WireMessage): Generator<string> {
    yield separator + JSON.stringify(message);
    separator = ",";
  }
  function* close(): Generator<string> {
    const message = open?.fold.message;
    open = undefined;
    if (message) yield* emit(message);
    const held = waiting;
    waiting = [];
    for (const next of held) yield* emit(next);
  }

  for (const record of records) {
    const { body } = record;
    const ownerId = "submissionId" in body ? body.submissionId : undefined;
    if (body.type === "input" || body.type === "signal") {
      const message = body.type === "input" ? renderInput(body) : renderSignal({ ...record, body });
      if (open?.fold.message) waiting.push(message);
      else yield* emit(message);
    } else if (body.type === "settled") {
      settlements.push(JSON.stringify(renderSettlement(body)));
      if (open?.submissionId === ownerId) yield* close();
    } else if (ownerId !== undefined && body.type !== "agent_start_run") {
      // The marker of a message that joined carries the message's own id and must not part the response it is in.
      if (open?.submissionId !== ownerId) {
        yield* close();
        open = { submissionId: ownerId, fold: new ResponseFold(ownerId) };
      }
      open.fold.apply(record);
    }
  }
  yield* close();
  yield `],"settlements":[${settlements.join(",")}]}`;
}
