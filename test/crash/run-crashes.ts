/**
 * `npm run test:crash -- --rounds N --seed S`: rounds of real `kill -9`, one server for all of them. Prints a line a round
 * and the figures at the end.
 */
import { parseArgs } from "node:util";
import { startScriptedBerth } from "../e2e/scripted-berth.ts";
import { seededRandom } from "../sim/random.ts";
import { runCrashRound } from "./crash-round.ts";

const { values } = parseArgs({
  options: { rounds: { type: "string", default: "10" }, seed: { type: "string", default: "1" } },
});
const rounds = Number(values.rounds);
const seed = Number(values.seed);
const startedAt = Date.now();
const totals = { kills: 0, admitted: 0, calls: 0, problems: 0 };
const recoveries: number[] = [];
let scripted = await startScriptedBerth();
try {
  for (let round = 1; round <= rounds; round++) {
    const result = await runCrashRound(scripted, seededRandom(seed * 100_003 + round));
    totals.kills += result.kills;
    totals.admitted += result.admitted;
    totals.calls += result.calls;
    totals.problems += result.problems.length;
    if (result.recoveryMs !== undefined) recoveries.push(result.recoveryMs);
    console.log(
      `round ${round}: ${result.kills} kills, ${result.admitted} admitted, resumed after ${result.recoveryMs ?? "-"} ms`,
    );
    for (const problem of result.problems) console.log(`  ! ${problem}`);
    // What earlier rounds left in the model's record and on disk is not what is tested.
    if (round % 25 === 0 && round < rounds) {
      await scripted.stop();
      scripted = await startScriptedBerth();
    }
  }
} finally {
  await scripted.stop();
}
const slowest = Math.max(0, ...recoveries);
console.log(
  `${rounds} rounds from seed ${seed}: ${totals.kills} kills, ${totals.admitted} admitted, ${totals.calls} calls, ` +
    `${totals.problems} problems, slowest recovery ${slowest} ms, ${Math.round((Date.now() - startedAt) / 1000)} s`,
);
process.exitCode = totals.problems === 0 ? 0 : 1;
