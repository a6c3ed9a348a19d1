/** Token counts as pi reports them, of a message that has cost nothing (yet). */
import type { Usage } from "@earendil-works/pi-ai";

/** A fresh value: pi fills counts in place. */
export function noUsage(): Usage {
  return {
    input: 0,
    output: 0,
    cacheRead: 0,
    cacheWrite: 0,
    totalTokens: 0,
    cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
  };
}
