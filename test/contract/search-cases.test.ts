/** Reported faults of grep and glob. */
import { expect } from "vitest";
import { type Case, EMULATED, playCases } from "./reported-case.ts";

const SEARCHES: Case[] = [
  {
    name: "a pattern that begins with a dash is a pattern (grep-01)",
    async play({ put, call }) {
      await put("m.md", "x -> y\n--ctx-size|n\n- [ ] todo\n-77\n");
      const lineOf = async (args: Record<string, unknown>) => /m\.md:(\d+):/.exec((await call("grep", args)).text)?.[1];
      expect(await lineOf({ pattern: "->" })).toBe("1");
      expect(await lineOf({ pattern: "--ctx-size" })).toBe("2");
      expect(await lineOf({ pattern: "-77" })).toBe("4");
      expect(await lineOf({ pattern: "- [ ]", literal: true })).toBe("3");
    },
  },
  {
    name: "a broken pattern is an error, not an absence (grep-03)",
    async play({ put, call }) {
      await put("f", "foo(\n");
      const broken = await call("grep", { pattern: "foo(" });
      expect(broken).toMatchObject({ isError: true });
      expect(broken.text).not.toContain("No matches");
      expect((await call("grep", { pattern: "foo(", literal: true })).text).toContain("f:1:foo(");
    },
  },
  {
    name: "what a repository ignores is never left out without a word (grep-05)",
    not: EMULATED("it has no git"),
    async play({ setUp, put, call }) {
      await setUp("git init -q . 2>&1; mkdir scripts; echo example_writer > scripts/w.py");
      await put(".gitignore", "scripts/*\n");
      const whole = await call("grep", { pattern: "example_writer", path: "." });
      expect(whole.text).toMatch(/scripts\/w\.py:1|Hidden or git-ignored files match/);
      expect((await call("grep", { pattern: "example_writer", path: "scripts/w.py" })).text).toContain(
        "example_writer",
      );
    },
  },
  {
    name: "a pipe or an endless device in the tree does not hold a search (grep-09)",
    not: EMULATED("it has no pipes"),
    async play({ setUp, call }) {
      await setUp("mkfifo d.fifo; echo zed > a; ln -s /dev/zero zero");
      const found = await call("grep", { pattern: "zed", path: "." });
      expect(found.text).toContain("a:1:zed");
      expect(found.ms).toBeLessThan(5000);
    },
  },
  {
    name: "a name pattern matches file names, below the path that is named (glob-01)",
    async play({ put, call }) {
      await put("src/a.ts", "");
      await put("src/x/b.ts", "");
      expect((await call("glob", { pattern: "src/*.ts" })).text).not.toMatch(/a\.ts$/m);
      const all = (await call("glob", { pattern: "*.ts" })).text;
      expect(all).toContain("src/a.ts");
      expect(all).toContain("src/x/b.ts");
      const below = (await call("glob", { pattern: "*.ts", path: "src/x" })).text;
      expect(below).toContain("b.ts");
      expect(below).not.toContain("a.ts");
    },
  },
  {
    // To root no folder is closed: what becomes of find's failure is in test/unit/search-tools.test.ts too.
    name: "a dangling link and a closed folder do not empty the list (glob-03)",
    async play({ setUp, put, call }) {
      await put("k/here.md", "");
      await setUp("ln -s nowhere dead.md; mkdir shut; chmod 000 shut");
      expect((await call("glob", { pattern: "*.md" })).text).toBe("./k/here.md");
    },
  },
  {
    name: "a very large list is cut, in order, and says so (glob-05)",
    async play({ setUp, call }) {
      await setUp("mkdir t; cd t; for i in $(seq 1500); do : > f$i.log; done");
      const lines = (await call("glob", { pattern: "*.log" })).text.split("\n");
      const paths = lines.filter((line) => line.endsWith(".log"));
      const all = Array.from({ length: 1500 }, (_, i) => `./t/f${i + 1}.log`).toSorted();
      expect(paths).toEqual(all.slice(0, 1000));
      expect(lines.at(-1)).toBe("[Showing 1000 of 1500 paths. Narrow your search.]");
    },
  },
  {
    name: "a folder whose name begins with a dash is no expression of find (glob-07)",
    async play({ put, call, bytes }) {
      await put("keep/sub/a.txt", "precious\n");
      await put("b.txt", "b\n");
      for (const path of ["-delete", "-print"]) {
        expect((await call("glob", { pattern: "*", path })).text).not.toContain("a.txt");
      }
      expect([await bytes("keep/sub/a.txt"), await bytes("b.txt")]).toEqual(["precious\n", "b\n"]);
    },
  },
];

playCases("searches", SEARCHES);
