/**
 * The model's transcript, put together from records and from nothing else, so that it is the same after any crash.
 *
 * A step and the results of its calls are one unit (T1): results stand directly behind their message, in call order,
 * whatever was recorded in between. Only whole units ever reach a provider.
 *
 * Source: contract RUNTIME 2.5, 3.1; ARCHITECTURE T1.
 */
import type { AssistantMessage, Message, ToolCall, ToolResultMessage, UserMessage } from "@earendil-works/pi-ai";
import { omitImages } from "../../models/omit-images.ts";
import { INTERRUPTED_RESULT } from "../../protocol/interrupted.ts";
import type { AssistantRecord, StoredRecord, ToolResultRecord } from "../../protocol/records.ts";
import { renderDelivery, renderSignalText } from "./render-delivery.ts";

interface Step {
  at: number;
  assistant: AssistantMessage;
  calls: ToolCall[];
  results: Map<string, ToolResultMessage>;
}

type Entry = { message: Message } | { step: Step };

function resultMessage(at: number, record: Omit<ToolResultRecord, "type" | "submissionId">): ToolResultMessage {
  return {
    role: "toolResult",
    toolCallId: record.toolCallId,
    toolName: record.toolName,
    content: [{ type: "text", text: record.text }],
    isError: record.isError,
    timestamp: at,
  };
}

/**
 * A step as the model is shown it. A cut one goes on as plain text: its reasoning lacks the signature that a provider wants
 * to see. It must not look aborted, since pi leaves aborted messages out of a request.
 */
function renderStep({ message, interrupted }: AssistantRecord): AssistantMessage {
  if (!interrupted) return message;
  const content = message.content.filter((part) => part.type === "text" && part.text.trim() !== "");
  return { ...message, content, stopReason: "stop" };
}

export class Transcript {
  readonly #readAttachment: (id: string) => string | undefined;
  #lastSeq = 0;
  readonly #entries: Entry[] = [];
  readonly #steps = new Map<string, Step>();

  /** @param readAttachment bytes of an attachment in base64. */
  constructor(readAttachment: (id: string) => string | undefined) {
    this.#readAttachment = readAttachment;
  }

  /** Number of the last record applied: what comes after it is not in here yet. */
  get lastSeq(): number {
    return this.#lastSeq;
  }

  apply(record: StoredRecord): void {
    const { at, body } = record;
    this.#lastSeq = record.seq;
    if (body.type === "input") {
      this.#say(at, renderDelivery(body.message, this.#readAttachment));
    } else if (body.type === "signal") {
      this.#say(at, renderSignalText({ ...body, type: body.signalType }));
    } else if (body.type === "assistant") {
      this.#applyStep(at, body);
    } else if (body.type === "tool_result") {
      this.#steps.get(body.toolCallId)?.results.set(body.toolCallId, resultMessage(at, body));
    } else if (body.type === "images_omitted") {
      this.#omitImages();
    }
  }

  messages(): Message[] {
    return this.#entries.flatMap((entry) => ("message" in entry ? [entry.message] : stepMessages(entry.step)));
  }

  /** Whether a call of this id is already in the model's view. */
  hasCall(toolCallId: string): boolean {
    return this.#steps.has(toolCallId);
  }

  #say(at: number, content: UserMessage["content"]): void {
    this.#entries.push({ message: { role: "user", content, timestamp: at } });
  }

  #omitImages(): void {
    for (const entry of this.#entries) {
      if ("message" in entry && entry.message.role === "user") entry.message = omitImages(entry.message);
    }
  }

  #applyStep(at: number, record: AssistantRecord): void {
    const assistant = renderStep(record);
    if (assistant.content.length === 0) return;
    const calls = assistant.content.filter((part): part is ToolCall => part.type === "toolCall");
    const step: Step = { at, assistant, calls, results: new Map() };
    for (const call of calls) this.#steps.set(call.id, step);
    this.#entries.push({ step });
  }
}

function stepMessages(step: Step): Message[] {
  const results = step.calls.map(
    (call) =>
      step.results.get(call.id) ??
      resultMessage(step.at, { toolCallId: call.id, toolName: call.name, text: INTERRUPTED_RESULT, isError: true }),
  );
  return [step.assistant, ...results];
}
