import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { normalisePath, parentPath, resolvePath } from "../../containers/paths.ts";
import { shellQuote } from "../../containers/shell-quote.ts";

interface Resolved {
  cwd: string;
  path: string;
  resolved: string;
}

const recorded = JSON.parse(
  readFileSync(join(import.meta.dirname, "../fixtures/resolved-paths.json"), "utf8"),
) as Resolved[];

describe("paths", () => {
  it.each(recorded)("resolves $path from $cwd to $resolved", ({ cwd, path, resolved }) => {
    expect(resolvePath(cwd, path)).toBe(resolved);
  });

  it("never climbs above the root, however many .. a path has", () => {
    expect(normalisePath("/a/../../../../b/..")).toBe("/");
  });

  it("holds the root to be its own parent, so that a write at the top has a folder to make", () => {
    expect([parentPath("/"), parentPath("/a"), parentPath("/a/b")]).toEqual(["/", "/", "/a"]);
  });
});

describe("shellQuote", () => {
  it("keeps every word one word, whatever quotes it holds", () => {
    expect(shellQuote("it's $HOME `x`")).toBe(`'it'\\''s $HOME \`x\`'`);
    expect(shellQuote("")).toBe("''");
  });
});
