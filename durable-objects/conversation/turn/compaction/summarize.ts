/**
 * Asks the summarising model: the history and, where a turn is cut apart, its beginning, side by side; folded in parts
 * where one request would not hold it.
 *
 * Source: contract RUNTIME 6.
 */
import type { AssistantMessage, Message } from "@earendil-works/pi-ai";
import { askOnce } from "../../../models/ask-once.ts";
import type { ResolvedModel } from "../../../models/model.ts";
import { isProviderFault } from "../../../models/provider-fault.ts";
import { BerthError } from "../../../protocol/errors.ts";
import type { TokenUsage } from "../../../protocol/submission.ts";
import { pause } from "../pause.ts";
import type { AttemptPorts } from "../ports.ts";
import { resolveProviderFault } from "../provider-retry.ts";
import { estimateTextTokens, unitsOfTokens } from "./estimate-tokens.ts";
import { serializeMessages } from "./serialize-messages.ts";
import {
  joinSplitTurn,
  NO_HISTORY,
  renderSummaryRequest,
  SUMMARY_SYSTEM_PROMPT,
  type SummaryKind,
} from "./summary-prompts.ts";

export interface SummaryParts {
  history: readonly Message[];
  /** Beginning of the turn that is cut apart; empty where none is. */
  prefix: readonly Message[];
  /** The notes so far. */
  previous: string | undefined;
}

export interface Summary {
  text: string;
  usage: TokenUsage;
}

const MAX_SUMMARY_TOKENS = 16_000;
const HISTORY_SHARE = 0.8;
const PREFIX_SHARE = 0.5;
/** What the instructions around a conversation take, generously. */
const REQUEST_OVERHEAD_TOKENS = 2_000;
const MIN_PART_TOKENS = 1_000;

export class Summarizer {
  readonly #ports: Pick<AttemptPorts, "signal" | "timers" | "random" | "clock">;
  readonly #model: ResolvedModel;
  readonly #reserveTokens: number;
  readonly #usage: TokenUsage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0, cost: 0 };

  constructor(
    ports: Pick<AttemptPorts, "signal" | "timers" | "random" | "clock">,
    model: ResolvedModel,
    reserveTokens: number,
  ) {
    this.#ports = ports;
    this.#model = model;
    this.#reserveTokens = reserveTokens;
  }

  /** Rejects with the provider's fault, or because of an abort. */
  async summarize({ history, prefix, previous }: SummaryParts): Promise<Summary> {
    const isSplit = prefix.length > 0;
    const [notes, prefixNotes] = await Promise.all([
      history.length === 0 ? (previous ?? NO_HISTORY) : this.#fold("history", history, previous),
      isSplit ? this.#fold("prefix", prefix, undefined) : undefined,
    ]);
    const text = prefixNotes === undefined ? notes : joinSplitTurn(notes, prefixNotes);
    return { text, usage: this.#usage };
  }

  /** The notes on everything, part by part, each with those on the parts before. */
  async #fold(kind: SummaryKind, messages: readonly Message[], previous: string | undefined): Promise<string> {
    const { contextWindow } = this.#model.model;
    const outputTokens = this.#outputTokens(kind);
    const roomTokens =
      contextWindow > 0
        ? Math.max(MIN_PART_TOKENS, contextWindow - 2 * outputTokens - REQUEST_OVERHEAD_TOKENS)
        : Number.MAX_SAFE_INTEGER;
    let notes = previous;
    for (const part of splitBlocks(serializeMessages(messages), roomTokens)) {
      notes = await this.#ask(renderSummaryRequest(kind, part, notes), outputTokens);
    }
    return notes ?? NO_HISTORY;
  }

  #outputTokens(kind: SummaryKind): number {
    const share = kind === "history" ? HISTORY_SHARE : PREFIX_SHARE;
    return Math.max(1, Math.min(Math.floor(share * this.#reserveTokens), MAX_SUMMARY_TOKENS));
  }

  async #ask(request: string, maxTokens: number): Promise<string> {
    const { timers, signal, random, clock } = this.#ports;
    for (let retries = 0; ; retries++) {
      const question = {
        systemPrompt: SUMMARY_SYSTEM_PROMPT,
        text: request,
        maxTokens,
        signal,
        timers,
        now: clock.now(),
      };
      const message = await askOnce(this.#model, question);
      signal.throwIfAborted();
      if (!isProviderFault(message) && message.stopReason !== "aborted") {
        this.#count(message);
        const text = message.content
          .map((part) => (part.type === "text" ? part.text : ""))
          .join("")
          .trim();
        if (text !== "") return text;
      }
      const next = resolveProviderFault(message, retries, random());
      if (next.kind === "failed") throw new BerthError(next.fault.type, `The summary failed: ${next.fault.message}`);
      await pause(timers, next.afterMs, signal);
    }
  }

  #count({ usage }: AssistantMessage): void {
    this.#usage.input += usage.input;
    this.#usage.output += usage.output;
    this.#usage.cacheRead += usage.cacheRead;
    this.#usage.cacheWrite += usage.cacheWrite;
    this.#usage.totalTokens += usage.totalTokens;
    this.#usage.cost += usage.cost.total;
  }
}

/** Joins blocks to texts of at most so many tokens; a block above that is cut. */
export function splitBlocks(blocks: readonly string[], maxTokens: number): string[] {
  const parts: string[] = [];
  let part: string[] = [];
  let tokens = 0;
  const maxUnits = unitsOfTokens(maxTokens);
  for (const block of blocks) {
    const fitting = block.length <= maxUnits ? block : `${block.slice(0, maxUnits).toWellFormed()}\n[cut]`;
    const own = estimateTextTokens(fitting);
    if (part.length > 0 && tokens + own > maxTokens) {
      parts.push(part.join("\n\n"));
      part = [];
      tokens = 0;
    }
    part.push(fitting);
    tokens += own;
  }
  if (part.length > 0) parts.push(part.join("\n\n"));
  return parts;
}
