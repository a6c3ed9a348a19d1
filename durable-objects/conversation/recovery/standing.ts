/**
 * Where a submission stands, told from its records alone: no agent is rendered and no sandbox opened to find out.
 *
 * Source: contract RUNTIME 2.5 (the table), ARCHITECTURE T1.
 */
import type { ToolCall } from "@earendil-works/pi-ai";
import { type AssistantRecord, type DeltaRecord, isRecordOf, type StoredRecord } from "../../protocol/records.ts";

export interface TextPiece {
  kind: "text" | "reasoning";
  text: string;
}

/** A model step that was being written when its attempt ended. */
export interface PartialStep {
  turnId: string;
  firstSeq: number;
  lastSeq: number;
  pieces: TextPiece[];
}

export interface OpenCall {
  turnId: string;
  call: ToolCall;
  /** Whether `tool_started` is on record: an unstarted call has had no effect. */
  started: boolean;
}

export interface Standing {
  partial?: PartialStep;
  /** Calls of the last assistant message that have no result, in call order. */
  openCalls: OpenCall[];
  /** The model has nothing more to do: here the response would stop. */
  isAtEnd: boolean;
  /** At that point the finish callbacks have run and appended nothing. */
  isFinishClosed: boolean;
  /** The response is complete: only the settlement is missing. */
  completed: boolean;
}

/** Joins neighbours of one kind. */
export function mergePieces(pieces: readonly TextPiece[]): TextPiece[] {
  const merged: TextPiece[] = [];
  for (const piece of pieces) {
    const last = merged.at(-1);
    if (last?.kind === piece.kind) last.text += piece.text;
    else merged.push({ kind: piece.kind, text: piece.text });
  }
  return merged;
}

export function callsOf(record: AssistantRecord): ToolCall[] {
  return record.message.content.filter((part): part is ToolCall => part.type === "toolCall");
}

function partialOf(deltas: readonly StoredRecord<DeltaRecord>[]): PartialStep | undefined {
  const first = deltas[0];
  const last = deltas.at(-1);
  if (!first || !last) return undefined;
  return {
    turnId: first.body.turnId,
    firstSeq: first.seq,
    lastSeq: last.seq,
    pieces: mergePieces(deltas.map((delta) => delta.body)),
  };
}

/**
 * @param records all records of the submission, in order.
 * @param lastJoinedSeq the last message that joined its response; what comes after it may have answered it.
 */
export function standingOf(records: readonly StoredRecord[], lastJoinedSeq = 0): Standing {
  const deltas = records.filter((record) => isRecordOf(record, "delta"));
  const partial = partialOf(deltas);
  const assistants = records.filter((record) => isRecordOf(record, "assistant"));
  const last = assistants.at(-1);
  const open = { isAtEnd: false, isFinishClosed: false, completed: false };
  if (!last) return { ...(partial && { partial }), openCalls: [], ...open };

  const calls = callsOf(last.body);
  const after = records.filter((record) => record.seq > last.seq);
  const results = after.filter((record) => isRecordOf(record, "tool_result"));
  const started = new Set(after.filter((record) => isRecordOf(record, "tool_started")).map((r) => r.body.toolCallId));
  const done = new Set(results.map((record) => record.body.toolCallId));
  const openCalls = calls
    .filter((call) => !done.has(call.id))
    .map((call) => ({ turnId: last.body.turnId, call, started: started.has(call.id) }));

  const isAskedAgain =
    lastJoinedSeq > last.seq || after.some((record) => record.body.type === "signal" || record.body.type === "delta");
  const isBatchTerminal = calls.length > 0 && results.length > 0 && results.every((result) => result.body.terminate);
  const wouldStop = calls.length === 0 || (openCalls.length === 0 && isBatchTerminal);
  if (!wouldStop || last.body.interrupted || isAskedAgain) return { ...(partial && { partial }), openCalls, ...open };
  const cycle = after.findLast((record) => isRecordOf(record, "agent_finish_cycle"))?.body;
  const completed = cycle ? !cycle.responseFinish : !last.body.awaitsFinish;
  return { ...(partial && { partial }), openCalls, isAtEnd: true, isFinishClosed: cycle !== undefined, completed };
}
