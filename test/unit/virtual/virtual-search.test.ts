import { describe, expect, it } from "vitest";
import { matchesName } from "../../../containers/drivers/bash/name-glob.ts";
import type { ExecResult, GlobQuery, GrepQuery } from "../../../containers/sandbox.ts";
import { openDriver } from "./open-driver.ts";

async function openTree() {
  const { driver, print } = openDriver();
  await print("mkdir -p src/deep .git; echo foo > a.txt; echo foo > .hidden; echo foo > .git/config; echo foo > -dash");
  await print("printf 'x foo(bar) {\\nbaz\\nfoo\\n' > src/b.txt; echo 'const 你 = foo' > src/deep/c.ts");
  await print("ln -s a.txt link; ln -s src dir; ln -s .. src/up; ln -s gone broken; printf 'foo\\x00\\nfoo\\n' > bin");
  await driver.writeFile("/workspace/new\nline", "foo\n");
  await driver.writeFile("/workspace/\u{1f600}", "foo\n");
  await driver.writeFile("/workspace/\uff5e", "foo\n");
  const search = driver.search;
  if (search === undefined) throw new Error("no search verbs");
  const grep = (query: Partial<GrepQuery>): Promise<ExecResult> =>
    search.grep({ pattern: "foo", path: ".", cwd: "/workspace", ...query });
  const glob = (query: Partial<GlobQuery>): Promise<ExecResult> =>
    search.glob({ pattern: "*", path: ".", cwd: "/workspace", ...query });
  return { grep, glob, driver };
}

describe("the grep verb of the virtual sandbox", () => {
  it("finds every line once, hidden files too, by path in byte order and then by line", async () => {
    const { grep } = await openTree();
    expect(await grep({})).toEqual({
      stdout: [
        "./-dash:1:foo",
        "./.git/config:1:foo",
        "./.hidden:1:foo",
        "./a.txt:1:foo",
        "./bin: binary file matches",
        '"./new\\nline":1:foo',
        "./src/b.txt:1:x foo(bar) {",
        "./src/b.txt:3:foo",
        "./src/deep/c.ts:1:const 你 = foo",
        "./\uff5e:1:foo",
        "./\u{1f600}:1:foo",
        "",
      ].join("\n"),
      stderr: "",
      exitCode: 0,
    });
  });

  it("prints the path as it was written, for a directory, a file and a link to a directory", async () => {
    const { grep } = await openTree();
    expect((await grep({ path: "src", pattern: "baz" })).stdout).toBe("src/b.txt:2:baz\n");
    expect((await grep({ path: "src/", pattern: "baz" })).stdout).toBe("src/b.txt:2:baz\n");
    expect((await grep({ path: "/workspace/src", pattern: "baz" })).stdout).toBe("/workspace/src/b.txt:2:baz\n");
    expect((await grep({ path: "a.txt" })).stdout).toBe("a.txt:1:foo\n");
    expect((await grep({ path: "dir", pattern: "baz" })).stdout).toBe("dir/b.txt:2:baz\n");
    expect((await grep({ path: "deep", cwd: "/workspace/src" })).stdout).toBe("deep/c.ts:1:const 你 = foo\n");
  });

  it("takes the pattern as an extended expression, or literally when asked", async () => {
    const { grep } = await openTree();
    expect((await grep({ path: "src", pattern: "^(baz|foo)$" })).stdout).toBe("src/b.txt:2:baz\nsrc/b.txt:3:foo\n");
    expect((await grep({ path: "src", pattern: "foo(", literal: true })).stdout).toBe("src/b.txt:1:x foo(bar) {\n");
    for (const pattern of ["--help", "-dash", "--include=x"]) expect((await grep({ pattern })).exitCode).toBe(1);
  });

  it("searches only the names that include allows, braces and all", async () => {
    const { grep } = await openTree();
    expect((await grep({ include: "*.ts" })).stdout).toBe("./src/deep/c.ts:1:const 你 = foo\n");
    expect((await grep({ include: "*.{ts,txt}", pattern: "bar|你" })).stdout.split("\n")).toHaveLength(3);
  });

  it("tells nothing found from a bad pattern and a missing path", async () => {
    const { grep } = await openTree();
    expect(await grep({ pattern: "nope_zz" })).toEqual({ stdout: "", stderr: "", exitCode: 1 });
    expect(await grep({ pattern: "foo(" })).toMatchObject({ exitCode: 2, stderr: expect.stringContaining("foo(") });
    expect(await grep({ path: "nope" })).toEqual({
      stdout: "",
      stderr: "grep: nope: No such file or directory\n",
      exitCode: 2,
    });
  });

  it("takes linear time on a pattern that would hang a backtracking engine", async () => {
    const { grep, driver } = await openTree();
    await driver.writeFile("/workspace/evil", `${"a".repeat(5_000)}!\n`);
    expect((await grep({ path: "evil", pattern: "^(a+)+$" })).exitCode).toBe(1);
  });
});

describe("the glob verb of the virtual sandbox", () => {
  it("lists regular files and links to files by base name, in byte order", async () => {
    const { glob } = await openTree();
    expect((await glob({})).stdout.split("\n").filter((line) => line !== "")).toEqual([
      "./-dash",
      "./.git/config",
      "./.hidden",
      "./a.txt",
      "./bin",
      "./link",
      '"./new\\nline"',
      "./src/b.txt",
      "./src/deep/c.ts",
      "./\uff5e",
      "./\u{1f600}",
    ]);
    expect(await glob({ pattern: "*.ts", path: "src" })).toEqual({
      stdout: "src/deep/c.ts\n",
      stderr: "",
      exitCode: 0,
    });
  });

  it("tells nothing found from a missing path", async () => {
    const { glob } = await openTree();
    expect((await glob({ pattern: "*.zz" })).exitCode).toBe(1);
    expect(await glob({ path: "nope" })).toMatchObject({ exitCode: 2, stderr: expect.stringContaining("nope") });
  });

  it("reads patterns as find -name does", () => {
    const matching: [string, string][] = [
      ["*", ".x"],
      ["a*b*c", "aXbYbc"],
      ["?", "😀"],
      ["[!a-c]x", "dx"],
      ["[]x]", "]"],
      ["[[:digit:]-]", "-"],
      ["\\*", "*"],
      ["[x", "[x"],
    ];
    for (const [pattern, name] of matching) expect(matchesName(pattern, name), `${pattern} ${name}`).toBe(true);
    const others: [string, string][] = [
      ["a*b", "abc"],
      ["[!a-c]x", "bx"],
      ["*.{a,b}", "x.a"],
      ["A", "a"],
      ["\\*", "x"],
      ["", "x"],
      [`${"*a".repeat(30)}b`, "a".repeat(300)],
    ];
    for (const [pattern, name] of others) expect(matchesName(pattern, name), `${pattern} ${name}`).toBe(false);
  });
});
