/**
 * A page of history: walks the records back from where it ends, until it holds as many whole messages as were asked for.
 * What it reads follows the page, never the history.
 *
 * A response belongs where its first record stands, which lies behind the input of its submission: the walk knows a
 * response to be whole when it has come to that input.
 *
 * Source: contract RUNTIME 1.12.
 */
import type { RecordType, StoredRecord } from "../../protocol/records.ts";
import type { WireMessage, WireSettlement } from "../../protocol/wire.ts";
import { renderInput, renderSettlement, renderSignal } from "./render-message.ts";

const SHOWS_RESPONSE: readonly RecordType[] = ["delta", "response_started", "assistant", "assistant_discarded"];

const READ_AHEAD_RECORDS = 100;

export interface HistoryPage {
  messages: WireMessage[];
  settlements: WireSettlement[];
  /** Whether there are messages before the page. */
  hasMore: boolean;
}

interface Entry {
  /** Where the message stands. */
  seq: number;
  message: WireMessage;
}

export interface HistoryReader {
  /** The whole response of a submission. */
  readResponse(submissionId: string): WireMessage | undefined;
  /** The newest records first, below a number. */
  readBack(before: number, limit: number): StoredRecord[];
}

/** @param before record number below which the page's messages begin. */
export function readHistoryPage(reader: HistoryReader, before: number, limit: number): HistoryPage {
  const entries: Entry[] = [];
  const settlements: WireSettlement[] = [];
  // Lowest record so far of each response whose beginning was not reached yet.
  const open = new Map<string, number>();
  const close = (submissionId: string): void => {
    const seq = open.get(submissionId);
    open.delete(submissionId);
    const message = seq === undefined ? undefined : reader.readResponse(submissionId);
    if (seq !== undefined && message) entries.push({ seq, message });
  };
  for (const record of walkBack(reader, before)) {
    const { body } = record;
    if (body.type === "input") {
      close(body.submissionId);
      entries.push({ seq: record.seq, message: renderInput(body) });
    } else if (body.type === "signal") {
      entries.push({ seq: record.seq, message: renderSignal({ ...record, body }) });
    } else if (body.type === "settled") {
      settlements.unshift(renderSettlement(body));
    } else if (SHOWS_RESPONSE.includes(body.type) && "submissionId" in body && body.submissionId !== undefined) {
      open.set(body.submissionId, record.seq);
    }
    // One more than asked for, so that it is known whether there are more; and nothing half.
    if (entries.length > limit && open.size === 0) break;
  }
  for (const submissionId of [...open.keys()]) close(submissionId);
  const sorted = entries.sort((a, b) => a.seq - b.seq);
  const kept = sorted.slice(-limit).map((entry) => entry.message);
  return { messages: kept, settlements, hasMore: sorted.length > limit };
}

function* walkBack(reader: HistoryReader, before: number): Generator<StoredRecord> {
  let position = before;
  for (;;) {
    const records = reader.readBack(position, READ_AHEAD_RECORDS);
    yield* records;
    const last = records.at(-1);
    if (!last || records.length < READ_AHEAD_RECORDS) return;
    position = last.seq;
  }
}
