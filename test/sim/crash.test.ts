import { describe, expect, it } from "vitest";
import { simulate } from "./simulate.ts";

const RUNS = Number(process.env.SIM_RUNS ?? 300);
const SEED = Number(process.env.SIM_SEED ?? 1);

describe("a conversation that crashes at any write and between any two steps", () => {
  it(`keeps every promise in ${RUNS} seeded runs`, { timeout: 600_000 }, async () => {
    let crashes = 0;
    let losses = 0;
    const outcomes: Record<string, number> = {};
    for (let seed = SEED; seed < SEED + RUNS; seed++) {
      const result = await simulate(seed);
      expect(result.violations, `seed ${seed}`).toEqual([]);
      crashes += result.crashes;
      losses += result.losses;
      for (const [outcome, n] of Object.entries(result.outcomes)) outcomes[outcome] = (outcomes[outcome] ?? 0) + n;
    }
    console.log(`${RUNS} runs, ${crashes} crashes, ${losses} lost workspaces, outcomes ${JSON.stringify(outcomes)}`);
    expect(crashes).toBeGreaterThan(RUNS);
    expect(losses).toBeGreaterThan(RUNS / 3);
    expect(outcomes.completed).toBeGreaterThan(RUNS / 2);
  });
});
