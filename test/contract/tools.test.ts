/**
 * Replays the conformance vectors of the tools over every driver.
 *
 * The vectors stand beside the repository (`../shared/vectors/tools.json`); without them the suite is skipped, since what
 * must hold for good is kept in test/fixtures. At the end it prints what passed and what was skipped, and why.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, it } from "vitest";
import type { ContractDriver } from "./drivers/contract-driver.ts";
import { contractDrivers } from "./drivers/index.ts";
import { replay } from "./replay.ts";
import type { Vector } from "./vector.ts";

const vectorFile = join(import.meta.dirname, "../../../shared/vectors/tools.json");
const tools = [
  "read",
  "write",
  "edit",
  "bash",
  "grep",
  "glob",
  "batch",
  "resolvePath",
  "definition",
  "formatBashResult",
  "activate_skill",
  "read_skill_resource",
];

function readVectors(): Vector[] {
  if (!existsSync(vectorFile)) {
    console.log(`tools contract: skipped, ${vectorFile} is not there`);
    return [];
  }
  const { vectors } = JSON.parse(readFileSync(vectorFile, "utf8")) as { vectors: Vector[] };
  return vectors.filter((vector) => tools.includes(vector.tool));
}

function skipReason(vector: Vector, driver: ContractDriver): string | undefined {
  if (vector.backend && vector.tool === "grep") return "records a shell without a working grep";
  const backend = vector.setup?.ripgrep === undefined ? undefined : vector.setup.ripgrep ? "rg" : "grep";
  if (backend && driver.backends !== "own" && !driver.backends.includes(backend)) return `needs ${backend}`;
  const named = Object.entries(driver.cannot).find(
    ([id]) => vector.id === id || (id.endsWith("*") && vector.id.startsWith(id.slice(0, -1))),
  );
  return named?.[1];
}

function twinOf({ id, pair }: Vector): Vector | undefined {
  return pair === undefined ? undefined : vectors.find((other) => other.pair === pair && other.id !== id);
}

interface Row {
  passed: number;
  /** Ids of the vectors whose text is the driver's own. */
  adapterText: string[];
  failed: number;
  skipped: Map<string, number>;
}

const vectors = readVectors();

describe.skipIf(vectors.length === 0).each(contractDrivers)("tools over $name", (driver) => {
  const rows = new Map<string, Row>();
  const rowOf = (tool: string): Row => {
    const row = rows.get(tool) ?? { passed: 0, adapterText: [], failed: 0, skipped: new Map() };
    rows.set(tool, row);
    return row;
  };

  for (const vector of vectors) {
    it(`${vector.id} comes out as the contract says`, async (context) => {
      const row = rowOf(vector.tool);
      const why = skipReason(vector, driver);
      if (why !== undefined) {
        row.skipped.set(why, (row.skipped.get(why) ?? 0) + 1);
        context.skip(why);
      }
      row.failed++;
      const verdict = await replay(vector, driver, driver.backends === "own" ? twinOf(vector) : undefined);
      row.failed--;
      if (verdict === "passed") row.passed++;
      else row.adapterText.push(vector.id);
    });
  }

  afterAll(() => {
    const table = [...rows].map(([tool, { passed, adapterText, failed, skipped }]) => {
      const reasons = [...skipped].map(([why, count]) => `${count} ${why}`).join("; ");
      return `${driver.name.padEnd(10)}${tool.padEnd(18)}${[passed, adapterText.length, failed].map((n) => String(n).padStart(8)).join("")}  ${reasons}`;
    });
    const ownTexts = [...rows.values()].flatMap(({ adapterText }) => adapterText);
    console.log(
      [
        "driver    tool                passed adapter  failed  skipped",
        ...table,
        `the driver's own text: ${ownTexts.join(", ")}`,
      ].join("\n"),
    );
  });
});
