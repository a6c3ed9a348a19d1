/**
 * `npm run test:mutation`: switches each guard of `mutations.ts` off in a copy of the code and runs the simulator over it,
 * which must fail. `-- --only TEXT` takes those whose name holds the text.
 */
import { spawnSync } from "node:child_process";
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";
import type { Mutation } from "./mutation.ts";
import { MUTATIONS } from "./mutations.ts";

const ROOT = path.resolve(import.meta.dirname, "../..");
const COPIED = [".berth", "containers", "durable-objects", "test/sim", "test/unit/node-database.ts", "package.json"];
/** Enough for the rarest of them; the search ends with the first violation. */
const RUNS = 4000;

function copyCode(): string {
  const folder = fs.mkdtempSync(path.join(tmpdir(), "berth-mutation-"));
  for (const part of COPIED) fs.cpSync(path.join(ROOT, part), path.join(folder, part), { recursive: true });
  fs.symlinkSync(path.join(ROOT, "node_modules"), path.join(folder, "node_modules"));
  return folder;
}

/** Undoes itself with the returned function. */
function apply(folder: string, { file, find, replace, name }: Mutation): () => void {
  const target = path.join(folder, "durable-objects", file);
  const text = fs.readFileSync(target, "utf8");
  if (text.split(find).length !== 2) throw new Error(`"${name}": its text does not stand once in ${file}.`);
  fs.writeFileSync(
    target,
    text.replace(find, () => replace),
  );
  return () => fs.writeFileSync(target, text);
}

function simulate(folder: string): { isCaught: boolean; told: string } {
  const args = [
    "--disable-warning=ExperimentalWarning",
    "test/sim/run-simulations.ts",
    "--runs",
    String(RUNS),
    "--fast",
  ];
  const run = spawnSync(process.execPath, args, { cwd: folder, encoding: "utf8", timeout: 300_000 });
  const told = (run.stdout + run.stderr).split("\n").find((line) => /^seed \d+: |Error/.test(line)) ?? "";
  // One that ran out of time has found nothing.
  return { isCaught: run.status !== null && run.status !== 0, told };
}

const { values } = parseArgs({ options: { only: { type: "string", default: "" } } });
const folder = copyCode();
let missed = 0;
try {
  const chosen = MUTATIONS.filter(({ name }) => name.includes(values.only));
  for (const mutation of chosen) {
    const undo = apply(folder, mutation);
    const { isCaught, told } = simulate(folder);
    undo();
    if (!isCaught) missed++;
    console.log(`${isCaught ? "caught" : "MISSED"}  ${mutation.name}${isCaught ? `  (${told.slice(0, 110)})` : ""}`);
  }
  console.log(`${chosen.length - missed} of ${chosen.length} mutations caught`);
} finally {
  fs.rmSync(folder, { recursive: true, force: true });
}
process.exitCode = missed === 0 ? 0 : 1;
