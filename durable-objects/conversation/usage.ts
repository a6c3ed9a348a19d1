/** Tokens and cost of a submission, summed from its completed steps and compactions (contract RUNTIME 9). */
import { isRecordOf, type StoredRecord } from "../protocol/records.ts";
import type { TokenUsage } from "../protocol/submission.ts";

export function sumUsage(records: readonly StoredRecord[]): TokenUsage | undefined {
  const sum: TokenUsage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0, cost: 0 };
  let isCounted = false;
  for (const record of records) {
    const usage = usageOf(record);
    if (!usage) continue;
    isCounted = true;
    for (const part of ["input", "output", "cacheRead", "cacheWrite", "totalTokens", "cost"] as const) {
      sum[part] += usage[part];
    }
  }
  return isCounted ? sum : undefined;
}

function usageOf(record: StoredRecord): TokenUsage | undefined {
  if (isRecordOf(record, "signal")) return record.body.compaction?.usage;
  if (!isRecordOf(record, "assistant")) return undefined;
  const { usage } = record.body.message;
  return { ...usage, cost: usage.cost.total };
}
