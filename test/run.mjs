/**
 * `npm test`: installs what is missing, then runs the suites under the project's Node 22 and ends with a line
 * `N passed, N failed`, alone.
 *
 * `node test/run.mjs unit runtime` runs those projects of `vitest.config.ts` only; arguments that begin with a dash,
 * and what follows `--`, go to vitest. Plain JavaScript: it runs before anything is installed.
 */
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { ensureInstalled, projectNode, projectRoot } from "../worker/cli/install.mjs";
import { packSkillsAloud } from "../worker/cli/pack-skills.mjs";

/** @param {string[]} args */
function splitArguments(args) {
  const cut = args.includes("--") ? args.indexOf("--") : args.length;
  const own = args.slice(0, cut);
  return {
    projects: own.filter((arg) => !arg.startsWith("-")),
    rest: [...own.filter((arg) => arg.startsWith("-")), ...args.slice(cut + 1)],
  };
}

/** @param {string} file @returns {{ passed: number, failed: number }} */
function readCounts(file) {
  try {
    const report = JSON.parse(fs.readFileSync(file, "utf8"));
    // A file that could not be loaded has no tests to count, and is a failure all the same.
    const broken = report.testResults.filter(
      (/** @type {{ status: string, assertionResults: unknown[] }} */ file) =>
        file.status === "failed" && file.assertionResults.length === 0,
    );
    return { passed: report.numPassedTests, failed: report.numFailedTests + broken.length };
  } catch {
    return { passed: 0, failed: 0 };
  }
}

function main() {
  ensureInstalled();
  packSkillsAloud();
  const { projects, rest } = splitArguments(process.argv.slice(2));
  const report = path.join(projectRoot, `.wrangler/test-report-${process.pid}.json`);
  const run = spawnSync(
    projectNode(projectRoot),
    [
      path.join(projectRoot, "node_modules/vitest/vitest.mjs"),
      "run",
      // The lab is a machine of its own: it runs when it is named.
      ...(projects.length > 0 ? projects : ["!lab*"]).flatMap((name) => ["--project", name]),
      ...["--reporter=default", "--reporter=json", `--outputFile.json=${report}`],
      ...rest,
    ],
    { cwd: projectRoot, stdio: "inherit", env: { ...process.env, NODE_OPTIONS: "" } },
  );
  const counts = readCounts(report);
  fs.rmSync(report, { force: true });
  const ok = run.status === 0 && counts.failed === 0 && counts.passed > 0;
  // Whatever else went wrong (no report, a set-up that threw) counts as one.
  const failed = ok ? 0 : Math.max(1, counts.failed);
  console.log(`${counts.passed} passed, ${failed} failed`);
  process.exitCode = ok ? 0 : 1;
}

try {
  main();
} catch (error) {
  console.error(`berth: ${error instanceof Error ? error.message : String(error)}`);
  console.log("0 passed, 1 failed");
  process.exitCode = 1;
}
