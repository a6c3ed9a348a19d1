/**
 * Records to the chunks of an updates stream.
 *
 * A completed step is told in one of three ways, by where its reader stands: whole in deltas to one who has seen nothing
 * of it, only the tail to one who has every delta, and as one replaced message to one who stood among deltas that are
 * gone (J2). Each way has index numbers of its own, so that a position always means the same chunk.
 *
 * Source: contract RUNTIME 1.8.
 */
import { responseMessageId } from "../../protocol/ids.ts";
import { renderOffset } from "../../protocol/offset.ts";
import type {
  AssistantDiscardedRecord,
  AssistantRecord,
  BirthRecord,
  DeltaRecord,
  DeltaSpan,
  StoredRecord,
  ToolResultRecord,
} from "../../protocol/records.ts";
import type { ConversationChunk, WireMessage } from "../../protocol/wire.ts";
import { contentOf, isCall } from "./message-parts.ts";
import { renderInput, renderSettlement, renderSignal } from "./render-message.ts";

export interface ProjectionContext {
  conversationId: string;
  /** The response so far, up to and including the given record. */
  readResponse(submissionId: string, upTo: number): WireMessage | undefined;
}

/** First index of each way to tell a completed step. */
const INDEX = { started: 0, replaced: 1, tail: 2, content: 1000, completed: 1_000_000 } as const;

type Standing = "before" | "among" | "after";

function standingOf(previousSeq: number, deltas: DeltaSpan | undefined): Standing {
  if (!deltas || previousSeq < deltas.firstSeq) return "before";
  // Beyond the last delta stands another record (a message that was aborted meanwhile): whether its reader has seen the
  // deltas cannot be told from where it stands, so it gets the message whole.
  return previousSeq === deltas.lastSeq ? "after" : "among";
}

type Bare<C> = C extends unknown ? Omit<C, "conversationId" | "position"> : never;

/** @param previousSeq number of the record the reader had before this one. */
export function chunksOf(record: StoredRecord, previousSeq: number, context: ProjectionContext): ConversationChunk[] {
  const chunks: ConversationChunk[] = [];
  const timestamp = new Date(record.at).toISOString();
  const add = (index: number, chunk: Bare<ConversationChunk>): void => {
    chunks.push({
      ...chunk,
      conversationId: context.conversationId,
      position: { batch: record.seq, index },
    } as ConversationChunk);
  };
  const { body } = record;
  switch (body.type) {
    case "birth":
      addBirth(body, record.seq, context, add);
      break;
    case "input":
      add(0, { type: "message-appended", message: renderInput(body) });
      break;
    case "signal":
      add(0, { type: "message-appended", message: renderSignal({ ...record, body }) });
      break;
    case "delta":
      addDelta(body, timestamp, add);
      break;
    case "response_started": {
      const { submissionId, turnId } = body;
      const messageId = responseMessageId(submissionId);
      const turn = turnId === undefined ? {} : { turnId };
      add(INDEX.started, { type: "message-started", messageId, submissionId, ...turn, timestamp });
      break;
    }
    case "data":
      add(0, { type: "data-part", messageId: responseMessageId(body.submissionId), name: body.name, data: body.data });
      break;
    case "metadata":
      add(0, {
        type: "message-metadata",
        messageId: responseMessageId(body.submissionId),
        metadata: body.metadata,
      });
      break;
    case "assistant":
      addStep(body, record.seq, standingOf(previousSeq, body.deltas), timestamp, context, add);
      break;
    case "assistant_discarded":
      if (body.deltas) addWithdrawal(body, record.seq, standingOf(previousSeq, body.deltas), context, add);
      break;
    case "tool_result":
      addResult(body, timestamp, add);
      break;
    case "settled":
      add(0, { type: "submission-settled", ...renderSettlement(body), timestamp });
      break;
    case "tool_started":
    case "tool_intent":
    case "tool_step":
    case "agent_start_run":
    case "agent_finish_cycle":
      break;
  }
  return chunks;
}

type Add = (index: number, chunk: Bare<ConversationChunk>) => void;

function addBirth(body: BirthRecord, seq: number, context: ProjectionContext, add: Add): void {
  const snapshot = {
    v: 1,
    conversationId: context.conversationId,
    offset: renderOffset(seq),
    incarnation: body.incarnation,
    messages: [],
    settlements: [],
  } as const;
  add(0, { type: "conversation-reset", snapshot: { ...snapshot, messages: [], settlements: [] } });
}

function addDelta(body: DeltaRecord, timestamp: string, add: Add): void {
  const { submissionId, turnId } = body;
  const messageId = responseMessageId(submissionId);
  if (body.first) add(0, { type: "message-started", messageId, submissionId, turnId, timestamp });
  add(1, { type: "message-delta", messageId, kind: body.kind, delta: body.text });
}

function addStep(
  body: AssistantRecord,
  seq: number,
  standing: Standing,
  timestamp: string,
  context: ProjectionContext,
  add: Add,
): void {
  const { submissionId, turnId } = body;
  const messageId = responseMessageId(submissionId);
  if (standing === "among") {
    const message = context.readResponse(submissionId, seq);
    if (message) add(INDEX.replaced, { type: "message-appended", message });
  } else if (standing === "after") {
    body.deltas?.tail.forEach((piece, i) => {
      add(INDEX.tail + i, { type: "message-delta", messageId, kind: piece.kind, delta: piece.text });
    });
    contentOf(body).forEach((item, i) => {
      if (isCall(item)) add(INDEX.content + i, { type: "tool-input", messageId, ...item, timestamp });
    });
  } else {
    add(INDEX.started, { type: "message-started", messageId, submissionId, turnId, timestamp });
    contentOf(body).forEach((item, i) => {
      if (isCall(item)) add(INDEX.content + i, { type: "tool-input", messageId, ...item, timestamp });
      else add(INDEX.content + i, { type: "message-delta", messageId, kind: item.kind, delta: item.text });
    });
  }
  add(INDEX.completed, { type: "message-completed", messageId, timestamp });
}

/** Who has seen a piece gets the message without it; who has not learns only that the message started. */
function addWithdrawal(
  body: AssistantDiscardedRecord,
  seq: number,
  standing: Standing,
  context: ProjectionContext,
  add: Add,
): void {
  const { submissionId, turnId } = body;
  if (standing === "before") {
    add(INDEX.started, { type: "message-started", messageId: responseMessageId(submissionId), submissionId, turnId });
    return;
  }
  const message = context.readResponse(submissionId, seq);
  if (message) add(INDEX.replaced, { type: "message-appended", message });
}

function addResult(body: ToolResultRecord, timestamp: string, add: Add): void {
  const { toolCallId, durationMs } = body;
  const rest = { toolCallId, ...(durationMs !== undefined && { durationMs }), timestamp };
  if (body.isError) add(0, { type: "tool-output-error", errorText: body.text, ...rest });
  else add(0, { type: "tool-output", output: body.text, ...rest });
}
