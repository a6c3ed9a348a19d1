import { describe, expect, it } from "vitest";
import { simulate } from "./simulate.ts";

const RUNS = 200;

describe("a conversation that crashes at any use of storage or workspace and between any two steps", () => {
  it(`keeps every promise in ${RUNS} seeded runs`, { timeout: 600_000 }, async () => {
    let crashes = 0;
    let joined = 0;
    let losses = 0;
    const outcomes: Record<string, number> = {};
    for (let seed = 1; seed <= RUNS; seed++) {
      const result = await simulate(seed);
      expect(result.violations, `seed ${seed}: npm run test:sim -- --seed ${seed} --runs 1`).toEqual([]);
      crashes += result.crashes;
      joined += result.joined;
      losses += result.losses;
      for (const [outcome, n] of Object.entries(result.outcomes)) outcomes[outcome] = (outcomes[outcome] ?? 0) + n;
    }
    // The runs are worth something only if much happened in them.
    expect(crashes).toBeGreaterThan(RUNS * 4);
    expect(joined).toBeGreaterThan(RUNS / 10);
    expect(losses).toBeGreaterThan(RUNS / 3);
    expect(outcomes.completed).toBeGreaterThan(RUNS);
    expect(outcomes.aborted).toBeGreaterThan(RUNS / 10);
  });
});
