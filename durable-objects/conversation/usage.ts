/** Tokens and cost of a submission, summed from its completed steps (contract RUNTIME 9). */
import { isRecordOf, type StoredRecord } from "../protocol/records.ts";
import type { TokenUsage } from "../protocol/submission.ts";

export function sumUsage(records: readonly StoredRecord[]): TokenUsage | undefined {
  const steps = records.filter((record) => isRecordOf(record, "assistant"));
  if (steps.length === 0) return undefined;
  const sum: TokenUsage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0, cost: 0 };
  for (const { body } of steps) {
    const { usage } = body.message;
    sum.input += usage.input;
    sum.output += usage.output;
    sum.cacheRead += usage.cacheRead;
    sum.cacheWrite += usage.cacheWrite;
    sum.totalTokens += usage.totalTokens;
    sum.cost += usage.cost.total;
  }
  return sum;
}
