/**
 * Where a transcript is cut: what comes before is summarised, what comes behind stays as it is.
 *
 * The cut stands before a message or a step, never between a call and its result: a step and its results are one entry
 * (T1). Pure.
 *
 * Source: contract RUNTIME 6.
 */
import type { TranscriptEntry } from "../transcript.ts";
import { estimateTokens } from "./estimate-tokens.ts";

export interface Cut {
  /** Index of the first entry that stays. */
  keptFrom: number;
  /** Index of the first entry of the turn that is cut apart; the same as `keptFrom` where none is. */
  turnFrom: number;
}

/**
 * The newest entries of at least `keepTokens` stay. Where all there is is less, which a provider's own count may still call
 * too much, everything before the running request is cut off.
 *
 * @param mustShrink an oldest entry that alone is more than what stays is cut off, although less than that stays then.
 * @param firstRunning index of the running submission's first message; -1 when it is not among the entries.
 * @param firstFree entries before it (carried over from the compaction before) are no place to cut.
 */
export function findCut(
  entries: readonly TranscriptEntry[],
  keepTokens: number,
  firstRunning: number,
  firstFree: number,
  mustShrink = false,
): Cut | undefined {
  let tokens = 0;
  for (let at = entries.length - 1; at >= firstFree; at--) {
    tokens += estimateTokens(entries[at]?.messages ?? []);
    if (tokens < keepTokens) continue;
    const keptFrom = at === 0 && mustShrink ? 1 : at;
    return keptFrom > 0 && keptFrom < entries.length ? cutAt(entries, keptFrom) : undefined;
  }
  return firstRunning > 0 && firstRunning >= firstFree ? cutAt(entries, firstRunning) : undefined;
}

function cutAt(entries: readonly TranscriptEntry[], keptFrom: number): Cut {
  if (entries[keptFrom]?.isInput) return { keptFrom, turnFrom: keptFrom };
  const turnFrom = entries.findLastIndex((entry, at) => at < keptFrom && entry.isInput);
  return { keptFrom, turnFrom: turnFrom < 0 ? keptFrom : turnFrom };
}
