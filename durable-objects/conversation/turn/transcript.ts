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
import type { AssistantRecord, CompactionFacts, StoredRecord, ToolResultRecord } from "../../protocol/records.ts";
import { clipResult } from "./compaction/clip-result.ts";
import { renderSummary } from "./compaction/render-summary.ts";
import { renderDelivery, renderSignalText } from "./render-delivery.ts";

interface Step {
  at: number;
  record: AssistantRecord;
  assistant: AssistantMessage;
  calls: ToolCall[];
  results: Map<string, ToolResultMessage>;
}

type Entry = Said | { seq: number; step: Step };

interface Said {
  seq: number;
  isInput: boolean;
  /** Tells of a change since the prompt was composed. */
  isNarration: boolean;
  message: UserMessage;
}

/** What a new prompt says anew, and better. */
const NARRATION: readonly string[] = ["resources", "instructions", "environment"];

/** One unit of the transcript: a message, or a step with the results of its calls. */
export interface TranscriptEntry {
  /** Number of its first record. */
  seq: number;
  /** A delivered message, with which a turn begins. */
  isInput: boolean;
  messages: Message[];
  /** What the provider counted for the request that gave this step, and the step itself; absent where it did not count. */
  usedTokens?: number;
}

/** The last compaction: its record, and the summary as it stands there. */
export interface AppliedCompaction {
  seq: number;
  facts: CompactionFacts;
  text: string;
}

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
  #compaction: AppliedCompaction | undefined;
  #summary: UserMessage[] = [];
  #entries: Entry[] = [];
  readonly #steps = new Map<string, Step>();

  /** @param readAttachment bytes of an attachment in base64. */
  constructor(readAttachment: (id: string) => string | undefined) {
    this.#readAttachment = readAttachment;
  }

  /** Number of the last record applied: what comes after it is not in here yet. */
  get lastSeq(): number {
    return this.#lastSeq;
  }

  get compaction(): AppliedCompaction | undefined {
    return this.#compaction;
  }

  apply(record: StoredRecord): void {
    const { at, body, seq } = record;
    this.#lastSeq = seq;
    if (body.type === "input") {
      this.#say(seq, at, renderDelivery(body.message, this.#readAttachment), { isInput: true });
    } else if (body.type === "signal") {
      if (body.compaction) this.#compact(seq, at, body.body, body.compaction);
      else {
        const isNarration = NARRATION.includes(body.signalType) && body.appendedBy === undefined;
        this.#say(seq, at, renderSignalText({ ...body, type: body.signalType }), { isNarration });
      }
    } else if (body.type === "assistant") {
      this.#applyStep(seq, at, body);
    } else if (body.type === "tool_result") {
      this.#steps.get(body.toolCallId)?.results.set(body.toolCallId, resultMessage(at, body));
    } else if (body.type === "images_omitted") {
      this.#omitImages();
    }
  }

  messages(): Message[] {
    return [...this.#summary, ...this.#entries.flatMap((entry) => this.#messagesOf(entry))];
  }

  /** Everything behind the summary. */
  entries(): TranscriptEntry[] {
    return this.#entries.map((entry) => {
      const messages = this.#messagesOf(entry);
      if ("message" in entry) return { seq: entry.seq, isInput: entry.isInput, messages };
      const { record, assistant } = entry.step;
      const usedTokens = record.interrupted ? 0 : assistant.usage.totalTokens;
      return { seq: entry.seq, isInput: false, messages, ...(usedTokens > 0 && { usedTokens }) };
    });
  }

  /** Whether a call of this id is already in the model's view. */
  hasCall(toolCallId: string): boolean {
    return this.#steps.has(toolCallId);
  }

  #messagesOf(entry: Entry): Message[] {
    return "message" in entry ? [entry.message] : stepMessages(entry.step, this.#compaction?.facts.clips ?? {});
  }

  #say(seq: number, at: number, content: UserMessage["content"], is: Partial<Said>): void {
    const message: UserMessage = { role: "user", content, timestamp: at };
    this.#entries.push({ seq, isInput: false, isNarration: false, ...is, message });
  }

  #compact(seq: number, at: number, text: string, facts: CompactionFacts): void {
    this.#compaction = { seq, facts, text };
    this.#summary = [{ role: "user", content: renderSummary(text, facts), timestamp: at }];
    // A change that was told before the new prompt was composed would contradict it.
    const isOutdated = (entry: Entry) => "message" in entry && entry.isNarration;
    const isKept = (entry: Entry) => entry.seq >= facts.keptFromSeq || facts.carriedSeqs.includes(entry.seq);
    this.#entries = this.#entries.filter((entry) => isKept(entry) && !isOutdated(entry));
  }

  #omitImages(): void {
    for (const entry of this.#entries) {
      if ("message" in entry && entry.message.role === "user") entry.message = omitImages(entry.message);
    }
  }

  #applyStep(seq: number, at: number, record: AssistantRecord): void {
    const assistant = renderStep(record);
    if (assistant.content.length === 0) return;
    const calls = assistant.content.filter((part): part is ToolCall => part.type === "toolCall");
    const step: Step = { at, record, assistant, calls, results: new Map() };
    for (const call of calls) this.#steps.set(call.id, step);
    this.#entries.push({ seq, step });
  }
}

function stepMessages(step: Step, clips: CompactionFacts["clips"]): Message[] {
  const results = step.calls.map((call) => {
    const result =
      step.results.get(call.id) ??
      resultMessage(step.at, { toolCallId: call.id, toolName: call.name, text: INTERRUPTED_RESULT, isError: true });
    const units = clips[call.id];
    return units === undefined ? result : clipResult(result, units);
  });
  return [step.assistant, ...results];
}
