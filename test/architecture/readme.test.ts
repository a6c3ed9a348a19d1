/** What the README says is so: its tables against the code that owns the facts. */
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import * as limits from "../../durable-objects/protocol/limits.ts";
import { parseDevArguments, renderAddress } from "../../worker/cli/dev-arguments.mjs";
import { collectSettings } from "../../worker/cli/dev-settings.mjs";
import { CATALOGUES } from "./layers.ts";
import { ROOT } from "./source-files.ts";

const readme = readFileSync(path.join(ROOT, "README.md"), "utf8");
const MAX_README_LINES = 200;

const UNITS: Readonly<Record<string, number>> = { MiB: 1024 * 1024, min: 60_000, s: 1000, lines: 1, "": 1 };

function section(title: string): string {
  return readme.split(`\n## ${title}\n`)[1]?.split("\n## ")[0] ?? "";
}

function rowsOf(title: string): string[][] {
  const lines = section(title)
    .split("\n")
    .filter((line) => line.startsWith("|"));
  return lines.slice(2).map((line) =>
    line
      .split("|")
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}

describe("the README", () => {
  it("is short", () => {
    expect(readme.split("\n").length).toBeLessThan(MAX_README_LINES);
  });

  it("names commands that are there", () => {
    const { scripts } = JSON.parse(readFileSync(path.join(ROOT, "package.json"), "utf8"));
    const calls = readme.matchAll(/\bnpm (?:run ([a-z]+(?::[a-z0-9]+)*)|(start|test)\b)/g);
    const named = [...calls].map((match) => match[1] ?? match[2] ?? "");
    expect(named).toEqual(expect.arrayContaining(["start", "test", "check", "test:unit"]));
    expect(named.filter((name) => !(name in scripts))).toEqual([]);
  });

  it("states the limits that the code enforces", () => {
    const rows = rowsOf("Limits");
    expect(rows.length).toBeGreaterThan(0);
    for (const [what, cell = ""] of rows) {
      const [, name = "", digits = "", unit = ""] = /^<!-- (\w+) --> ([\d ]+?) ?([A-Za-z]*)$/.exec(cell) ?? [];
      const stated = Number(digits.replaceAll(" ", "")) * (UNITS[unit] ?? Number.NaN);
      expect({ what, value: stated }).toEqual({ what, value: (limits as Record<string, unknown>)[name] });
    }
  });

  it("lists settings that npm start hands on", () => {
    const names = rowsOf("Settings").flatMap(([cell = ""]) =>
      [...cell.matchAll(/`(\w+)`/g)].map((match) => match[1] ?? ""),
    );
    const given = Object.fromEntries(names.map((name) => [name, "x"]));
    expect(collectSettings(given, {}, { loopback: false })).toEqual(given);
  });

  it("says of every catalogue how to add to it, and of nothing that is none", () => {
    const rows = rowsOf("To add something").filter(([, , register]) => register?.includes("index.ts"));
    const folders = rows.map(([, write = "", register = ""]) => {
      const folder = /`(.+)\/<\w+>\.ts`/.exec(write)?.[1];
      expect(register).toContain(`\`${folder}/index.ts\``);
      return folder;
    });
    expect(folders.toSorted()).toEqual([...CATALOGUES].sort());
  });

  it("calls the address npm start listens on", () => {
    const { ip, port } = parseDevArguments([]);
    const addresses = [...readme.matchAll(/http:\/\/[^/\s']+(?=\/agents)/g)].map(([address]) => address);
    expect(new Set(addresses)).toEqual(new Set([renderAddress(ip, port)]));
  });

  it("leads to files that are there", () => {
    const files = ["test/architecture/layers.ts", "durable-objects/protocol/limits.ts"];
    for (const file of files)
      expect([file, readme.includes(file), existsSync(path.join(ROOT, file))]).toEqual([file, true, true]);
  });
});
