/** When the dependencies count as fresh, and when an install is owed. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ensureInstalled, findStaleness, projectRoot } from "../../../worker/cli/install.mjs";

let root: string;
beforeEach(() => {
  root = mkdtempSync(path.join(tmpdir(), "berth-install-"));
});
afterEach(() => rmSync(root, { recursive: true }));

interface Entry {
  version: string;
  optional?: boolean;
  os?: string[];
  cpu?: string[];
}

function lay(locked: Record<string, Entry>, installed?: Record<string, Entry>, folders = Object.keys(installed ?? {})) {
  writeFileSync(path.join(root, "package-lock.json"), JSON.stringify({ packages: { "": {}, ...locked } }));
  for (const folder of folders) {
    mkdirSync(path.join(root, folder), { recursive: true });
    writeFileSync(path.join(root, folder, "package.json"), "{}");
  }
  if (!installed) return;
  mkdirSync(path.join(root, "node_modules"), { recursive: true });
  writeFileSync(path.join(root, "node_modules/.package-lock.json"), JSON.stringify({ packages: installed }));
}

const A = { "node_modules/a": { version: "1.0.0" } };
const here = { os: [process.platform], cpu: [process.arch], optional: true };

describe("the dependencies", () => {
  it("are fresh when every locked package is there", () => {
    lay({ ...A, "node_modules/foreign": { version: "1.0.0", optional: true, os: ["none"], cpu: ["none"] } }, A);
    expect(findStaleness(root)).toBeUndefined();
  });

  it.each<[string, () => void, RegExp]>([
    ["on a fresh clone", () => lay(A), /not installed/],
    ["when an install was cut", () => lay(A, undefined, ["node_modules/a"]), /incomplete/],
    ["when the lock moved on", () => lay(A, { "node_modules/a": { version: "0.9.0" } }), /outdated/],
    ["when a package was added", () => lay({ ...A, "node_modules/b": { version: "1.0.0" } }, A), /without/],
    ["when a folder was removed", () => lay(A, A, []), /incomplete/],
    [
      "when the binary of this machine is missing",
      () => lay({ ...A, "node_modules/w": { version: "1", ...here } }, A),
      /w$/,
    ],
  ])("are stale %s", (_when, prepare, why) => {
    prepare();
    expect(findStaleness(root)).toMatch(why);
  });

  it("of this checkout need no install while its tests run", () => {
    expect(() => ensureInstalled(projectRoot)).not.toThrow();
    expect(findStaleness(projectRoot)).toBeUndefined();
  });
});
