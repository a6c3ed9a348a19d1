/**
 * Records to wire messages: a whole response from its submission's records, and the messages that are one record each.
 *
 * Source: contract RUNTIME 1.7.
 */
import { inputMessageId, recordMessageId, responseMessageId } from "../../protocol/ids.ts";
import { mergeMetadata } from "../../protocol/metadata.ts";
import type { InputRecord, SettledRecord, SignalRecord, StoredRecord } from "../../protocol/records.ts";
import type { AttachmentRef } from "../../protocol/submission.ts";
import type { WireMessage, WirePart, WireSettlement } from "../../protocol/wire.ts";
import { addPiece, addStep, applyResult, putData } from "./message-parts.ts";

/** Plumbing that a reader need not see. */
const HIDDEN_SIGNALS: readonly string[] = ["stream_interrupted", "stream_continued"];

const SETTLEMENT_SIGNALS: Readonly<Record<string, "failed" | "aborted">> = {
  submission_aborted: "aborted",
  submission_interrupted: "failed",
};

function renderAttachment({ id, mimeType, size, filename }: AttachmentRef): WirePart {
  return { type: "file", mediaType: mimeType, id, size, ...(filename !== undefined && { filename }) };
}

export function renderInput(record: InputRecord): WireMessage {
  const { message, submissionId } = record;
  const id = inputMessageId(submissionId);
  const text: WirePart = { type: "text", text: message.body, state: "done" };
  if (message.kind === "user") {
    const files = (message.attachments ?? []).map(renderAttachment);
    return { id, role: "user", purpose: "user", display: "visible", submissionId, parts: [text, ...files] };
  }
  const signal: NonNullable<WireMessage["signal"]> = {};
  if (message.tagName !== undefined) signal.tagName = message.tagName;
  if (message.attributes !== undefined) signal.attributes = message.attributes;
  return { id, role: "system", purpose: "dispatch", display: "diagnostic", submissionId, signal, parts: [text] };
}

export function renderSignal(record: StoredRecord<SignalRecord>): WireMessage {
  const { signalType, submissionId, body, attributes, tagName, appendedBy } = record.body;
  const outcome = SETTLEMENT_SIGNALS[signalType];
  const message: WireMessage = {
    id: recordMessageId(record.seq),
    role: "system",
    // What an event hook appended is the agent's word, as a signal that was sent to it.
    purpose: appendedBy === undefined ? "advisory" : "dispatch",
    display: HIDDEN_SIGNALS.includes(signalType) ? "hidden" : "diagnostic",
    ...(submissionId !== undefined && { submissionId }),
    signal: { ...(tagName !== undefined && { tagName }), ...(attributes !== undefined && { attributes }) },
    ...(outcome && { settlement: { outcome } }),
    parts: [{ type: "text", text: body, state: "done" }],
  };
  return message;
}

export function renderSettlement(record: SettledRecord): WireSettlement {
  const { submissionId, outcome, error, answeredBySubmissionId } = record;
  const settlement: WireSettlement = { submissionId, outcome };
  if (error !== undefined) settlement.error = error;
  if (answeredBySubmissionId !== undefined) settlement.answeredBySubmissionId = answeredBySubmissionId;
  return settlement;
}

/**
 * One response, put together record by record. `message` is `undefined` until the first step showed something.
 * A step that is withdrawn takes its deltas with it: they are gone from the journal, so none were applied after it.
 */
export class ResponseFold {
  readonly #submissionId: string;
  #message: WireMessage | undefined;

  constructor(submissionId: string) {
    this.#submissionId = submissionId;
  }

  get message(): WireMessage | undefined {
    return this.#message;
  }

  apply(record: StoredRecord): void {
    const { body } = record;
    if (body.type === "delta") addPiece(this.#open(body.turnId).parts, body);
    else if (body.type === "response_started") this.#open(body.turnId);
    else if (body.type === "assistant") addStep(this.#open(body.turnId).parts, body);
    else if (body.type === "tool_result") applyResult(this.#message?.parts ?? [], body);
    else if (body.type === "assistant_discarded" && body.deltas) this.#open(body.turnId);
    else if (body.type === "data") putData(this.#message?.parts ?? [], body);
    else if (body.type === "metadata" && this.#message) {
      this.#message.metadata = mergeMetadata(this.#message.metadata ?? {}, body.metadata);
    }
  }

  #open(turnId: string | undefined): WireMessage {
    this.#message ??= {
      id: responseMessageId(this.#submissionId),
      role: "assistant",
      purpose: "assistant",
      display: "visible",
      submissionId: this.#submissionId,
      ...(turnId !== undefined && { turnId }),
      parts: [],
    };
    return this.#message;
  }
}

export function foldResponse(submissionId: string, records: readonly StoredRecord[]): WireMessage | undefined {
  const fold = new ResponseFold(submissionId);
  for (const record of records) fold.apply(record);
  return fold.message;
}
