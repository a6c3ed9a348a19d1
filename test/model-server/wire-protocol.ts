/** A protocol that a model is asked in: where, what a fussy provider would refuse, and how a turn is told. */
import type { EventWriter } from "./event-writer.ts";
import type { ChatRequest, ModelTurn, RecordedRequest } from "./script.ts";

export interface WireProtocol {
  path: RegExp;
  /** Sentences; empty = a fussy provider would take it. */
  check(body: ChatRequest): string[];
  /** The whole turn as one object, for a caller that does not stream; absent where nobody asks for that. */
  renderWhole?(request: RecordedRequest, turn: ModelTurn): string;
  /** What comes before the calls; the caller decides how the answer goes on. */
  streamText(writer: EventWriter, request: RecordedRequest, turn: ModelTurn): Promise<void>;
  /** The first call without the end of its arguments. */
  streamHalfCall(writer: EventWriter, request: RecordedRequest, turn: ModelTurn): void;
  /** Calls, stop reason and usage. */
  streamEnd(writer: EventWriter, request: RecordedRequest, turn: ModelTurn): void;
  /** A fault in the middle of the stream. */
  streamFault(writer: EventWriter, error: Record<string, unknown>): void;
}
