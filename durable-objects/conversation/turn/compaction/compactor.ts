/**
 * Keeps a transcript inside its model's window: what is old becomes a summary, what is new stays as it is.
 *
 * Nothing is durable before the summary is whole; then one record, with the next epoch of the prompt, takes the place of
 * what it stands for. Threshold and overflow are best effort: where a compaction fails, the request is made as it is.
 *
 * Source: contract RUNTIME 6.
 */
import type { Message } from "@earendil-works/pi-ai";
import type { CompactionChoice } from "../../../agent/agent.ts";
import type { ResolvedModel } from "../../../models/model.ts";
import { BerthError } from "../../../protocol/errors.ts";
import type { CompactionFacts, SignalRecord } from "../../../protocol/records.ts";
import type { AttemptPorts } from "../ports.ts";
import type { Transcript, TranscriptEntry } from "../transcript.ts";
import { type CompactionLimits, compactionLimits } from "./compaction-limits.ts";
import { estimateTextTokens, estimateTokens, unitsOfTokens } from "./estimate-tokens.ts";
import { type Cut, findCut } from "./find-cut.ts";
import { collectFiles } from "./serialize-messages.ts";
import { Summarizer } from "./summarize.ts";

export interface CompactorParts {
  /** Of the thread whose transcript it is. */
  ports: Pick<AttemptPorts, "submissionId" | "journal" | "signal" | "timers" | "random" | "clock" | "report">;
  transcript: Transcript;
  model: ResolvedModel;
  /** Who summarises; the model itself when absent. */
  summaryModel?: ResolvedModel;
  choice: CompactionChoice | undefined;
  /** Numbers of the running submission's messages: they stand verbatim, whatever is cut. */
  readRunningSeqs(): readonly number[];
  /** Stores the record, with the next epoch of the prompt where there is one, in one transaction. */
  store(record: SignalRecord): Promise<void>;
}

/** What a request consists of besides the transcript. */
export interface FixedPart {
  systemPrompt: string;
  tools: readonly { name: string; description: string; parameters: unknown }[];
}

/** A compaction must shrink a request at least to this part of it, or it is not made again. */
const WORTHWHILE = 0.9;
const MIN_KEEP_TOKENS = 250;

export class Compactor {
  readonly #parts: CompactorParts;
  readonly #limits: CompactionLimits;

  constructor(parts: CompactorParts) {
    this.#parts = parts;
    this.#limits = compactionLimits(parts.model.model, parts.choice);
  }

  /** Compacts where the next request would be too large. True when it did. */
  async beforeRequest(fixed: FixedPart): Promise<boolean> {
    this.#sync();
    const { windowTokens, reserveTokens, hasThreshold } = this.#limits;
    if (windowTokens <= 0) return false;
    const fixedTokens = estimateFixed(fixed);
    if (fixedTokens >= windowTokens) throw windowFilled(fixedTokens, windowTokens);
    const used = this.#usedTokens(fixedTokens);
    const isTooLong = used > windowTokens - reserveTokens && used * WORTHWHILE > this.#floorTokens();
    return hasThreshold && isTooLong ? this.#attempt("threshold", fixed, used) : false;
  }

  /** After the provider refused a request as too large. True when the next one is smaller. */
  recover(fixed: FixedPart): Promise<boolean> {
    this.#sync();
    return this.#attempt("overflow", fixed, this.#usedTokens(estimateFixed(fixed)));
  }

  /** By somebody's wish. False when there is nothing to summarise; rejects when it fails. */
  compact(fixed: FixedPart): Promise<boolean> {
    this.#sync();
    return this.#compact("manual", fixed, this.#usedTokens(estimateFixed(fixed)));
  }

  #sync(): void {
    const { transcript, ports } = this.#parts;
    for (const record of ports.journal.readTranscript(transcript.lastSeq)) transcript.apply(record);
  }

  /** The last count of the provider since the last compaction, and an estimate of what came after it. */
  #usedTokens(fixedTokens: number): number {
    const { transcript } = this.#parts;
    const entries = transcript.entries();
    const at = entries.findLastIndex((entry) => this.#isCounted(entry));
    if (at < 0) return fixedTokens + estimateTokens(transcript.messages());
    const results = entries[at]?.messages.slice(1) ?? [];
    const after = entries.slice(at + 1).flatMap((entry) => entry.messages);
    return (entries[at]?.usedTokens ?? 0) + estimateTokens([...results, ...after]);
  }

  /** What a request cost right after the last compaction: less than that is not to be had. */
  #floorTokens(): number {
    const { transcript } = this.#parts;
    if (!transcript.compaction) return 0;
    return transcript.entries().find((entry) => this.#isCounted(entry))?.usedTokens ?? 0;
  }

  #isCounted(entry: TranscriptEntry): boolean {
    return entry.usedTokens !== undefined && entry.seq > (this.#parts.transcript.compaction?.seq ?? 0);
  }

  async #attempt(reason: CompactionFacts["reason"], fixed: FixedPart, used: number): Promise<boolean> {
    const { ports } = this.#parts;
    try {
      return await this.#compact(reason, fixed, used);
    } catch (error) {
      // An overtaken or aborted attempt ends; a summary that failed leaves the transcript as it is.
      if (ports.signal.aborted || !(error instanceof BerthError)) throw error;
      return false;
    }
  }

  async #compact(reason: CompactionFacts["reason"], fixed: FixedPart, used: number): Promise<boolean> {
    const { ports, transcript, model, summaryModel = model } = this.#parts;
    const { submissionId, clock, report } = ports;
    const entries = transcript.entries();
    const running = new Set(this.#parts.readRunningSeqs());
    const cut = this.#findCut(reason, entries, running);
    if (!cut) return false;
    const startedAt = clock.now();
    const messagesBefore = transcript.messages().length;
    report("compaction_start", { submissionId, reason, estimatedTokens: used });
    try {
      const messagesOf = (from: number, to: number): Message[] =>
        entries.slice(from, to).flatMap((entry) => entry.messages);
      const summarizer = new Summarizer(ports, summaryModel, this.#limits.reserveTokens);
      const { text, usage } = await summarizer.summarize({
        history: messagesOf(0, cut.turnFrom),
        prefix: messagesOf(cut.turnFrom, cut.keptFrom),
        previous: transcript.compaction?.text,
      });
      const facts = this.#factsOf({ reason, cut, entries, running, used, text, fixed });
      const record: SignalRecord = {
        ...{ type: "signal", submissionId, signalType: "compaction", body: text },
        compaction: { ...facts, messagesBefore, durationMs: clock.now() - startedAt, usage },
      };
      await this.#parts.store(record);
      this.#sync();
      const { messagesAfter } = facts;
      const durationMs = clock.now() - startedAt;
      report("compaction", { submissionId, messagesBefore, messagesAfter, durationMs, isError: false, usage });
      return true;
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      const durationMs = clock.now() - startedAt;
      report("compaction", { submissionId, messagesBefore, durationMs, isError: true, error: message });
      throw error;
    }
  }

  #findCut(
    reason: CompactionFacts["reason"],
    entries: readonly TranscriptEntry[],
    running: ReadonlySet<number>,
  ): Cut | undefined {
    const { transcript } = this.#parts;
    const keptFromSeq = transcript.compaction?.facts.keptFromSeq ?? 0;
    const free = entries.findIndex((entry) => entry.seq >= keptFromSeq);
    const firstFree = free < 0 ? entries.length : free;
    const firstRunning = entries.findIndex((entry) => running.has(entry.seq));
    // After an overflow something must go, however little there is.
    const least = reason === "overflow" ? MIN_KEEP_TOKENS : this.#limits.keepTokens;
    for (let keep = this.#limits.keepTokens; keep >= least; keep = Math.floor(keep / 2)) {
      const cut = findCut(entries, keep, firstRunning, firstFree, reason !== "threshold");
      if (cut && (reason === "overflow" || this.#isWorth(entries, cut, running))) return cut;
    }
    return undefined;
  }

  /** Whether the cut takes anything away: the messages of the running submission stay in any case. */
  #isWorth(entries: readonly TranscriptEntry[], cut: Cut, running: ReadonlySet<number>): boolean {
    return entries.slice(0, cut.keptFrom).some((entry) => !running.has(entry.seq)) || this.#hasGiant(entries, cut);
  }

  #hasGiant(entries: readonly TranscriptEntry[], cut: Cut): boolean {
    return Object.keys(this.#clipsOf(entries, cut, this.#limits.keepTokens)).length > 0;
  }

  #clipsOf(entries: readonly TranscriptEntry[], cut: Cut, maxTokens: number): Record<string, number> {
    const results = entries.slice(cut.keptFrom).flatMap((entry) => entry.messages);
    const giants = results.flatMap((message) =>
      message.role === "toolResult" && estimateTokens([message]) > maxTokens ? [message.toolCallId] : [],
    );
    return Object.fromEntries(giants.map((id) => [id, unitsOfTokens(maxTokens)]));
  }

  #factsOf(work: {
    reason: CompactionFacts["reason"];
    cut: Cut;
    entries: readonly TranscriptEntry[];
    running: ReadonlySet<number>;
    used: number;
    text: string;
    fixed: FixedPart;
  }): Omit<CompactionFacts, "messagesBefore" | "durationMs" | "usage"> {
    const { reason, cut, entries, running, used, text, fixed } = work;
    const { facts: before } = this.#parts.transcript.compaction ?? {};
    const { keepTokens } = this.#limits;
    const kept = entries.slice(cut.keptFrom);
    const carried = entries.slice(0, cut.keptFrom).filter((entry) => entry.isInput && running.has(entry.seq));
    const files = { read: new Set(before?.readFiles), modified: new Set(before?.modifiedFiles) };
    for (const entry of entries.slice(0, cut.keptFrom)) collectFiles(entry.messages, files);
    const clips = this.#clipsOf(entries, cut, reason === "overflow" ? Math.floor(keepTokens / 2) : keepTokens);
    const standing = [...carried, ...kept].flatMap((entry) => entry.messages);
    const clipped = standing.map((message) => {
      const units = message.role === "toolResult" ? clips[message.toolCallId] : undefined;
      return units === undefined ? estimateTokens([message]) : Math.ceil(units / unitsOfTokens(1));
    });
    return {
      reason,
      keptFromSeq: kept[0]?.seq ?? 0,
      carriedSeqs: carried.map(({ seq }) => seq),
      clips,
      readFiles: [...files.read].filter((file) => !files.modified.has(file)).sort(),
      modifiedFiles: [...files.modified].sort(),
      tokensBefore: used,
      tokensAfter: estimateFixed(fixed) + estimateTextTokens(text) + clipped.reduce((sum, tokens) => sum + tokens, 0),
      messagesAfter: 1 + standing.length,
    };
  }
}

function estimateFixed({ systemPrompt, tools }: FixedPart): number {
  const given = tools.map(({ name, description, parameters }) => ({ name, description, parameters }));
  return estimateTextTokens(systemPrompt) + estimateTextTokens(JSON.stringify(given));
}

function windowFilled(fixedTokens: number, windowTokens: number): BerthError {
  return new BerthError(
    "context_overflow",
    `The system prompt and the tools (about ${fixedTokens} tokens) fill the model's context window of ${windowTokens} tokens. ` +
      "Shorten the instructions or AGENTS.md, offer fewer tools and skills, or take a model with a larger window.",
  );
}
