/**
 * `npm run test:sim -- --runs N --seed S [--workers W]`: seeded runs side by side, one line of figures at the end. A
 * failing seed is played again with ever fewer crashes, and the shortest failing story is printed.
 */
import { availableParallelism } from "node:os";
import { parseArgs } from "node:util";
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";
import { simulate } from "./simulate.ts";

interface Totals {
  runs: number;
  crashes: number;
  joined: number;
  compactions: number;
  outcomes: Record<string, number>;
  failures: { seed: number; violations: string[] }[];
}

const MAX_FAILURES = 3;
const SHORTEST_CRASHES = 24;

async function runSeeds(first: number, runs: number, stride: number, isFast: boolean): Promise<Totals> {
  const totals: Totals = { runs: 0, crashes: 0, joined: 0, compactions: 0, outcomes: {}, failures: [] };
  for (let i = 0; i < runs && totals.failures.length < (isFast ? 1 : MAX_FAILURES); i++) {
    const seed = first + i * stride;
    const result = await simulate(seed);
    totals.runs++;
    totals.crashes += result.crashes;
    totals.joined += result.joined;
    totals.compactions += result.compactions;
    for (const [outcome, n] of Object.entries(result.outcomes)) {
      totals.outcomes[outcome] = (totals.outcomes[outcome] ?? 0) + n;
    }
    if (result.violations.length > 0) totals.failures.push({ seed, violations: result.violations });
  }
  return totals;
}

/** The story of a seed with as few crashes as still fail. */
async function printShortest(seed: number): Promise<void> {
  for (let maxCrashes = 0; maxCrashes <= SHORTEST_CRASHES; maxCrashes++) {
    const result = await simulate(seed, { maxCrashes });
    if (result.violations.length === 0) continue;
    console.log(`\nseed ${seed} with at most ${maxCrashes} crashes:`);
    for (const line of result.trace) console.log(`  ${line}`);
    for (const violation of result.violations) console.log(`  ! ${violation}`);
    return;
  }
}

function startWorker(first: number, runs: number, stride: number, isFast: boolean): Promise<Totals> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(import.meta.filename, { workerData: { first, runs, stride, isFast } });
    worker.once("message", (totals: Totals) => {
      resolve(totals);
      if (isFast && totals.failures.length > 0) {
        console.log(`seed ${totals.failures[0]?.seed}: ${totals.failures[0]?.violations[0]?.slice(0, 400)}`);
        process.exit(1);
      }
    });
    worker.once("error", reject);
  });
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      runs: { type: "string", default: "1000" },
      seed: { type: "string", default: "1" },
      // The first failure ends it all, and its story is not told.
      fast: { type: "boolean", default: false },
      workers: { type: "string", default: String(availableParallelism()) },
    },
  });
  const [runs, seed, workers] = [Number(values.runs), Number(values.seed), Number(values.workers)];
  if (![runs, seed, workers].every((n) => Number.isSafeInteger(n) && n > 0)) {
    throw new Error("--runs, --seed and --workers take whole numbers above 0.");
  }
  const startedAt = Date.now();
  const used = Math.min(workers, runs);
  const parts = await Promise.all(
    Array.from({ length: used }, (_, i) => startWorker(seed + i, Math.ceil((runs - i) / used), used, values.fast)),
  );
  const sum = (read: (totals: Totals) => number): number => parts.reduce((total, part) => total + read(part), 0);
  const count = (outcome: string): number => sum((part) => part.outcomes[outcome] ?? 0);
  const failures = parts.flatMap((part) => part.failures);
  for (const { seed: failed, violations } of failures) console.log(`seed ${failed}: ${violations[0]?.slice(0, 400)}`);
  const [first] = failures;
  if (first) await printShortest(first.seed);
  console.log(
    `${sum((part) => part.runs)} runs from seed ${seed}, ${sum((part) => part.crashes)} crashes, ` +
      `${count("completed")} completed, ${count("aborted")} aborted, ${count("failed")} failed, ` +
      `${sum((part) => part.joined)} joined, ${sum((part) => part.compactions)} requests on a summary, ${failures.length} violations, ${Math.round((Date.now() - startedAt) / 1000)} s`,
  );
  process.exitCode = failures.length === 0 ? 0 : 1;
}

if (isMainThread) await main();
else parentPort?.postMessage(await runSeeds(workerData.first, workerData.runs, workerData.stride, workerData.isFast));
