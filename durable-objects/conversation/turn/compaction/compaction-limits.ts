/** When a transcript is too long and how much of it stays. Source: contract RUNTIME 6. */
import type { Api, Model } from "@earendil-works/pi-ai";
import type { CompactionChoice } from "../../../agent/agent.ts";

export interface CompactionLimits {
  /** Tokens; 0 or less: unknown, and nothing is too long. */
  windowTokens: number;
  /** Tokens of the window that a request leaves free. */
  reserveTokens: number;
  /** Newest tokens that stay verbatim. */
  keepTokens: number;
  /** `false`: only an overflow and a person's wish compact. */
  hasThreshold: boolean;
}

const DEFAULT_RESERVE_TOKENS = 20_000;
const DEFAULT_KEEP_TOKENS = 8_000;
const MIN_RESERVE_TOKENS = 1_024;

export function compactionLimits(model: Model<Api>, choice: CompactionChoice | undefined): CompactionLimits {
  const config = choice || {};
  const windowTokens = model.contextWindow;
  const asked =
    config.reserveTokens ??
    Math.min(DEFAULT_RESERVE_TOKENS, model.maxTokens > 0 ? model.maxTokens : DEFAULT_RESERVE_TOKENS);
  const isTooMuch = windowTokens > 0 && asked * 2 >= windowTokens;
  return {
    windowTokens,
    reserveTokens: isTooMuch ? Math.max(MIN_RESERVE_TOKENS, Math.floor(windowTokens / 3)) : asked,
    keepTokens: config.keepRecentTokens ?? DEFAULT_KEEP_TOKENS,
    hasThreshold: choice !== false,
  };
}
