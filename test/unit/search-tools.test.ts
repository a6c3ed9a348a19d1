import { afterEach, describe, expect, it, vi } from "vitest";
import type { ExecResult, GlobQuery, GrepQuery, Sandbox } from "../../containers/sandbox.ts";
import { createGlobTool, createGrepTool } from "../../durable-objects/tools/index.ts";
import { hasRipgrep } from "../../durable-objects/tools/ripgrep-probe.ts";
import { scriptedSandbox } from "../contract/drivers/scripted.ts";

const answer = (stdout: string, exitCode = 0, stderr = ""): ExecResult => ({ stdout, stderr, exitCode });
const NONE = answer("", 1);

async function run(tool: ReturnType<typeof createGrepTool>, params: unknown) {
  const { content, details } = await tool.execute("c", params, undefined);
  return { text: content[0]?.type === "text" ? content[0].text : "", details };
}

/** A sandbox with search verbs of its own; its shell may not be used. */
function withVerbs(grepAnswer: ExecResult, globAnswer: ExecResult, exists = false) {
  const queries: (GrepQuery | GlobQuery)[] = [];
  const { sandbox, log } = scriptedSandbox({ exists: [{ result: exists }] });
  const answering = (result: ExecResult) => async (query: GrepQuery | GlobQuery) => {
    queries.push(query);
    return result;
  };
  const env: Sandbox = { ...sandbox, search: { grep: answering(grepAnswer), glob: answering(globAnswer) } };
  return { env, queries, log };
}

afterEach(() => {
  vi.useRealTimers();
});

describe("search verbs of a sandbox", () => {
  it("answer instead of its shell, and are asked for the parameters as the model gave them", async () => {
    const { env, queries, log } = withVerbs(answer("./b:2:x\n./b:1:x\n./a:1:x\n"), answer("./b\n./a\n"));
    expect(await run(createGrepTool(env), { pattern: "x", include: "*.ts", literal: true })).toEqual({
      text: "./a:1:x\n./b:1:x\n./b:2:x",
      details: { matchCount: 3 },
    });
    expect(await run(createGlobTool(env), { pattern: "*", path: "-x" })).toMatchObject({ text: "./a\n./b" });
    expect(queries).toMatchObject([
      { pattern: "x", path: ".", cwd: "/workspace", include: "*.ts", literal: true },
      { pattern: "*", path: "./-x", cwd: "/workspace" },
    ]);
    expect(log).toEqual([]);
  });

  it("give errors and empty answers the same texts as the programs", async () => {
    const none = withVerbs(NONE, answer("", 2, "find: nope: No such file or directory\n")).env;
    expect((await run(createGrepTool(none), { pattern: "x" })).text).toBe("No matches found.");
    expect((await run(createGlobTool(none), { pattern: "x", path: "nope" })).text).toBe(
      "No files found matching pattern.\n\n[nope does not exist.]",
    );
    const broken = withVerbs(answer("", 2, "bad pattern\n"), answer("", 2, "bad glob\n"), true).env;
    await expect(run(createGrepTool(broken), { pattern: "x" })).rejects.toThrow("grep failed: bad pattern\n");
    await expect(run(createGlobTool(broken), { pattern: "x" })).rejects.toThrow("glob failed: bad glob\n");
  });

  it("cap their hits as the programs' are", async () => {
    const many = Array.from({ length: 1001 }, (_, i) => `f${String(i).padStart(4, "0")}`);
    const hits = many.slice(0, 101).map((name) => `${name}:1:${"x".repeat(600)}`);
    const { env } = withVerbs(answer(hits.join("\n")), answer(many.join("\n")));
    const grep = await run(createGrepTool(env), { pattern: "x" });
    expect(grep.text).toMatch(/x\.\.\.\n\n\[Showing 100 of 101 matches\. Narrow your search\.\]$/);
    expect(grep.details).toEqual({ matchCount: 100 });
    const glob = await run(createGlobTool(env), { pattern: "*" });
    expect(glob.text).toMatch(/\nf0999\n\n\[Showing 1000 of 1001 paths\. Narrow your search\.\]$/);
  });

  it("may quote a name themselves, which is sorted by the name and not by the quote", async () => {
    const { env } = withVerbs(answer('"./x ":1:q\n./a:1:q\n'), answer('"./x "\n./a\n"q"\n'));
    expect((await run(createGrepTool(env), { pattern: "q" })).text).toBe('./a:1:q\n"./x ":1:q');
    expect((await run(createGlobTool(env), { pattern: "*" })).text).toBe('"q"\n./a\n"./x "');
  });

  it("keep a line whose text looks like a note on a binary file", async () => {
    const { env } = withVerbs(answer("log.txt:3:a.bin: binary file matches\n"), NONE);
    expect((await run(createGrepTool(env), { pattern: "x" })).text).toBe("log.txt:3:a.bin: binary file matches");
  });
});

describe("a sandbox without the programs", () => {
  const refused = answer("", 1, "grep: invalid option -- 'H'\n");

  it("is given the plain command where it does not know the pipeline's options", async () => {
    const usage = answer("", 2, "sort: unrecognized option: z\n");
    const { sandbox, log } = scriptedSandbox({
      exec: [{ result: answer("", 127) }, { result: usage }, { result: answer("./b:1:x\n./a:1:x\n") }],
    });
    expect((await run(createGrepTool(sandbox), { pattern: "x" })).text).toBe("./a:1:x\n./b:1:x");
    expect(log.at(-1)?.args[0]).toBe("grep -rnH -E -- 'x' '.'");
  });

  it("is given the plain command where a program behind the search is missing", async () => {
    const lost = answer("", 0, "bash: xargs: command not found\n");
    const { sandbox, log } = scriptedSandbox({
      exec: [{ result: answer("ripgrep") }, { result: lost }, { result: answer("a:1:x\n") }],
    });
    const params = { pattern: "x", include: "*'.ts", literal: true, path: "p" };
    expect((await run(createGrepTool(sandbox), params)).text).toBe("a:1:x");
    expect(log.at(-1)?.args[0]).toBe(
      "rg --line-number --with-filename --color never --fixed-strings --glob '*'\\''.ts' -- 'x' 'p'",
    );
  });

  it("gives an error where even that is refused, not an empty answer", async () => {
    const { sandbox } = scriptedSandbox({ exec: [{ result: refused }] });
    await expect(run(createGrepTool(sandbox), { pattern: "x" })).rejects.toThrow("grep failed: grep: invalid option");
    await expect(run(createGlobTool(sandbox), { pattern: "x" })).rejects.toThrow("glob failed: grep: invalid option");
  });

  it("gives an error where find is missing, not an empty list", async () => {
    const { sandbox } = scriptedSandbox({ exec: [{ result: answer("", 127) }] });
    await expect(run(createGlobTool(sandbox), { pattern: "x" })).rejects.toThrow(
      "glob failed: the sandbox has no find program.",
    );
  });
});

describe("a find that met a closed folder", () => {
  it("gives the files it found besides", async () => {
    const { sandbox } = scriptedSandbox({ exec: [{ result: answer("./b\n./a\n2\n", 1) }] });
    expect((await run(createGlobTool(sandbox), { pattern: "*" })).text).toBe("./a\n./b");
  });
});

describe("the probe for ripgrep", () => {
  it("is asked once by concurrent first calls, and again only by another exec function", async () => {
    const { sandbox, log } = scriptedSandbox({});
    expect(await Promise.all([hasRipgrep(sandbox), hasRipgrep({ ...sandbox })])).toEqual([true, true]);
    expect(log.map(({ args }) => args[0])).toEqual(["rg --version"]);
    expect(log[0]?.args[1]).toMatchObject({ timeoutMs: 10_000, signal: undefined });
  });

  it("takes grep for good when nothing is answered in 15 s", async () => {
    vi.useFakeTimers();
    const { sandbox, log } = scriptedSandbox({ exec: [{ hang: true }, { result: answer("") }] });
    const first = hasRipgrep(sandbox);
    await vi.advanceTimersByTimeAsync(15_000);
    expect([await first, await hasRipgrep(sandbox), log.length]).toEqual([false, false, 1]);
  });
});

describe("the search for hidden matches", () => {
  const script = (hidden: object) => ({ exec: [{ result: answer("ripgrep 14") }, { result: NONE }, hidden] });

  it("gives no note when it has no answer in 2 s", async () => {
    vi.useFakeTimers();
    const { sandbox } = scriptedSandbox(script({ hang: true }));
    const running = run(createGrepTool(sandbox), { pattern: "x" });
    await vi.advanceTimersByTimeAsync(2_000);
    expect((await running).text).toBe("No matches found.");
  });

  it("gives no note when it fails", async () => {
    const { sandbox } = scriptedSandbox(script({ error: "lost" }));
    expect((await run(createGrepTool(sandbox), { pattern: "x" })).text).toBe("No matches found.");
  });

  it("passes an abort of the caller on", async () => {
    const { sandbox } = scriptedSandbox(script({ hang: true }));
    const controller = new AbortController();
    const running = createGrepTool(sandbox).execute("c", { pattern: "x" }, controller.signal);
    setTimeout(() => controller.abort(new Error("Stopped.")), 10);
    await expect(running).rejects.toThrow(/^Stopped\./);
  });
});
