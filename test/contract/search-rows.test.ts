/**
 * The rows of contract TOOLS 15 that concern grep and glob, over every driver, with and without ripgrep.
 *
 * A driver that cannot show a row names it in `cannot` (`D18`, or `D18-rg` for one backend).
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ExecResult, Sandbox } from "../../containers/sandbox.ts";
import type { DurableTool } from "../../durable-objects/tools/define-tool.ts";
import { createGlobTool, createGrepTool } from "../../durable-objects/tools/index.ts";
import type { ContractDriver, OpenSandbox } from "./drivers/contract-driver.ts";
import { contractDrivers } from "./drivers/index.ts";

const MAX_ANSWER_BYTES = 1024 * 1024;

async function textOf(tool: DurableTool, params: unknown): Promise<string> {
  try {
    const { content } = await tool.execute("c", params, undefined);
    return content[0]?.type === "text" ? content[0].text : "";
  } catch (error) {
    return `threw ${(error as Error).message}`;
  }
}

const backendsOf = ({ backends }: ContractDriver) => (backends === "own" ? ["own"] : backends);
const cases = contractDrivers.flatMap((driver) =>
  backendsOf(driver).map((backend) => ({ driver, name: driver.name, backend, ripgrep: backend === "rg" })),
);

describe.each(cases)("searching with $backend over $name", ({ driver, backend, ripgrep }) => {
  let open: OpenSandbox;
  let largestAnswer = 0;
  const put = (files: Record<string, string>) =>
    Promise.all(Object.entries(files).map(([path, text]) => open.putFile(`/workspace/${path}`, Buffer.from(text))));
  const grep = (params: unknown) => textOf(createGrepTool(measured()), params);
  const glob = (params: unknown) => textOf(createGlobTool(open.sandbox), params);
  /** The sandbox, with the size of what crosses from it noted. */
  function measured() {
    const { sandbox } = open;
    const exec: typeof sandbox.exec = async (command, options) => {
      const result = await sandbox.exec(command, options);
      largestAnswer = Math.max(largestAnswer, Buffer.byteLength(result.stdout));
      return result;
    };
    return { ...sandbox, exec };
  }

  beforeAll(async () => {
    open = await driver.open({ cwd: "/workspace", ripgrep });
  });
  afterAll(() => open.close());

  function row(id: string, consequence: string, test: () => Promise<void>): void {
    const why = driver.cannot[id] ?? driver.cannot[`${id}-${backend}`];
    if (why === undefined) it(`${consequence} (${id})`, test);
    else it.skip(`${consequence} (${id}): ${why}`, test);
  }

  row("D3", "takes a start that looks like an option for a folder and deletes nothing", async () => {
    const scoped = await driver.open({ cwd: "/workspace", ripgrep });
    await scoped.putFile("/workspace/keep/a.txt", Buffer.from("precious"));
    await scoped.putFile("/workspace/-n.txt", Buffer.from("foo"));
    await scoped.putFile("/workspace/(x/b.txt", Buffer.from("foo"));
    const [find, search] = [createGlobTool(scoped.sandbox), createGrepTool(scoped.sandbox)];
    const nothing = "No files found matching pattern.";
    expect(await textOf(find, { pattern: "zzz*", path: "-delete" })).toBe(`${nothing}\n\n[-delete does not exist.]`);
    expect(await textOf(find, { pattern: "*", path: "-print" })).toBe(`${nothing}\n\n[-print does not exist.]`);
    expect(await textOf(find, { pattern: "*", path: "(x" })).toBe("./(x/b.txt");
    expect(await textOf(search, { pattern: "foo", path: "-n.txt" })).toBe("-n.txt:1:foo");
    expect(await textOf(search, { pattern: "foo", path: "(x" })).toBe("(x/b.txt:1:foo");
    expect(await scoped.bytesOf("/workspace/keep/a.txt")).toBeDefined();
    await scoped.close();
  });

  row("D4", "shows what it found before it failed", async () => {
    await put({ "d4/a.txt": "foo\n", "d4/b.txt": "foo\n" });
    // Root reads every file, so the failure is added to a real answer.
    const { sandbox } = open;
    const { search } = sandbox;
    const fail = (result: ExecResult) => ({ ...result, stderr: "b.txt: Permission denied\n", exitCode: 2 });
    const failing: Sandbox = {
      ...sandbox,
      exec: async (command, options) => {
        const result = await sandbox.exec(command, options);
        return command === "rg --version" ? result : fail(result);
      },
      ...(search && { search: { ...search, grep: async (query) => fail(await search.grep(query)) } }),
    };
    expect(await textOf(createGrepTool(failing), { pattern: "foo", path: "d4" })).toBe(
      "threw grep failed: b.txt: Permission denied\n\n\nMatches found before the failure:\nd4/a.txt:1:foo\nd4/b.txt:1:foo",
    );
  });

  row("D5", "says where only hidden or ignored files match, and nothing where .git alone does", async () => {
    await put({ "d5/.env": "secret\n", "d5/.git/x": "inside\n", "d5/.ignore": "skip\n", "d5/skip": "ignored\n" });
    const note = "No matches found.\n\n[Hidden or git-ignored files match; name their path to search them.]";
    const found = ripgrep
      ? [note, note, "No matches found."]
      : ["d5/.env:1:secret", "d5/skip:1:ignored", "d5/.git/x:1:inside"];
    expect(await grep({ pattern: "secret", path: "d5" })).toBe(found[0]);
    expect(await grep({ pattern: "ignored", path: "d5", literal: true })).toBe(found[1]);
    expect(await grep({ pattern: "inside", path: "d5" })).toBe(found[2]);
    expect(await grep({ pattern: "secret", path: "d5/.env" })).toBe("d5/.env:1:secret");
    expect(await grep({ pattern: "secret", path: "d5", include: "*.ts" })).toBe("No matches found.");
  });

  row("D6", "names a binary file that matches, in a folder or by its path", async () => {
    await put({ "d6/a.bin": "x\0y foo\n", "d6/b.txt": "foo\n" });
    expect(await grep({ pattern: "foo", path: "d6" })).toBe("d6/a.bin: binary file matches\nd6/b.txt:1:foo");
    expect(await grep({ pattern: "foo", path: "d6/a.bin" })).toBe("d6/a.bin: binary file matches");
  });

  row("D7", "lists the first 1000 of all paths and tells how many there are", async () => {
    await open.run("mkdir d7 && cd d7 && for i in $(seq -w 1 1500); do : > f$i.log; done");
    const text = await glob({ pattern: "*.log", path: "d7" });
    const first = Array.from({ length: 1000 }, (_, i) => `d7/f${String(i + 1).padStart(4, "0")}.log`);
    expect(text).toBe(`${first.join("\n")}\n\n[Showing 1000 of 1500 paths. Narrow your search.]`);
  });

  row("D15", "quotes a name that could be misread, and counts it once", async () => {
    await put({ "d15/a\nb.txt": "foo\nfoo\n", "d15/x ": "foo\n", "d15/plain name": "foo\n" });
    const tool = createGrepTool(open.sandbox);
    const { content, details } = await tool.execute("c", { pattern: "foo", path: "d15" }, undefined);
    const quoted = ['"d15/a\\nb.txt":1:foo', '"d15/a\\nb.txt":2:foo', "d15/plain name:1:foo", '"d15/x ":1:foo'];
    expect(content).toEqual([{ type: "text", text: quoted.join("\n") }]);
    expect(details).toEqual({ matchCount: 4 });
    expect(await glob({ pattern: "*", path: "d15" })).toBe('"d15/a\\nb.txt"\nd15/plain name\n"d15/x "');
  });

  row("D15", "does not count the lines of a name as matches", async () => {
    await put({ "d15n/a\nb": "foo\n", "d15n/c": "foo\n".repeat(100) });
    const text = await grep({ pattern: "foo", path: "d15n" });
    expect(text).toMatch(/^"d15n\/a\\nb":1:foo\nd15n\/c:1:foo\n/);
    expect(text).toMatch(/of 101 matches\. Narrow your search\.\]$/);
  });

  row("D16", "sorts by the bytes of the path, then by line, before it caps", async () => {
    const hundred = "foo\n".repeat(100);
    await put({
      "d16/b": hundred,
      "d16/a/z": "foo\nfoo\n",
      "d16/a.txt": "foo\n",
      "d16/\u{1f600}": "foo\n",
      "d16/\ufffd": "foo\n",
    });
    expect(await glob({ pattern: "*", path: "d16" })).toBe(
      ["d16/a.txt", "d16/a/z", "d16/b", "d16/\ufffd", "d16/\u{1f600}"].join("\n"),
    );
    const text = await grep({ pattern: "foo", path: "d16" });
    expect(text.startsWith("d16/a.txt:1:foo\nd16/a/z:1:foo\nd16/a/z:2:foo\nd16/b:1:foo\n")).toBe(true);
    expect(text.endsWith("\nd16/b:97:foo\n\n[Showing 100 of 105 matches. Narrow your search.]")).toBe(true);
  });

  row("D18", "lets at most a mebibyte cross, whatever it finds, and still counts everything", async () => {
    await put({ "d18/wide.txt": `${"x".repeat(100_000)}\n`.repeat(150), "d18/z.txt": "x\n".repeat(200_000) });
    largestAnswer = 0;
    const text = await grep({ pattern: "x", path: "d18" });
    expect(text).toMatch(/\[Showing 100 of 200150 matches\. Narrow your search\.\]$/);
    expect(text.length).toBeLessThan(100 * 505 + 100);
    expect(largestAnswer).toBeLessThan(MAX_ANSWER_BYTES);
  });

  row("D26", "lists a link to a file, not one to a folder or to nothing", async () => {
    await put({ "d26/a.ts": "" });
    await open.run("cd d26 && ln -s a.ts l.ts && ln -s . dir.ts && ln -s nowhere dead.ts");
    expect(await glob({ pattern: "*.ts", path: "d26" })).toBe("d26/a.ts\nd26/l.ts");
  });
});
