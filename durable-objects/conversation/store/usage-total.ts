/**
 * Tokens and cost of everything that has settled in a conversation, as one running sum: reading it costs the same however
 * long the conversation is.
 *
 * Owns one key of the table `instance`; written in the transaction of the settlement, before the submission's own usage.
 *
 * Source: contract RUNTIME 9.
 */
import type { TokenUsage } from "../../protocol/submission.ts";
import type { Database } from "./database.ts";

export interface UsageTotal {
  read(): TokenUsage;
  /** Adds what a submission that settles now has used. */
  add(usage: TokenUsage): void;
}

const KEY = "usage_total";
const PARTS = ["input", "output", "cacheRead", "cacheWrite", "totalTokens", "cost"] as const;

function sum(usages: readonly TokenUsage[]): TokenUsage {
  const total: TokenUsage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0, cost: 0 };
  for (const usage of usages) for (const part of PARTS) total[part] += usage[part];
  return total;
}

export function createUsageTotal(db: Database): UsageTotal {
  /** A conversation that an older deployment began has no sum yet. */
  const sumSettled = (): TokenUsage => {
    const rows = db.all<{ usage: string }>("SELECT usage FROM submission WHERE usage IS NOT NULL");
    return sum(rows.map((row) => JSON.parse(row.usage) as TokenUsage));
  };
  const read = (): TokenUsage => {
    const row = db.all<{ value: string }>("SELECT value FROM instance WHERE key = ?", KEY)[0];
    return row ? (JSON.parse(row.value) as TokenUsage) : sumSettled();
  };
  return {
    read,
    add(usage) {
      const total = JSON.stringify(sum([read(), usage]));
      db.run("INSERT OR REPLACE INTO instance (key, value) VALUES (?, ?)", KEY, total);
    },
  };
}
