import { describe, expect, it } from "vitest";
import { createCwdSandbox } from "../../containers/cwd-sandbox.ts";
import type { Sandbox } from "../../containers/sandbox.ts";
import { createEditTool, createPathLocks, createReadTool, createWriteTool } from "../../durable-objects/tools/index.ts";
import { scriptedSandbox } from "../contract/drivers/scripted.ts";

/** One file system in memory: path to bytes. */
function memorySandbox(files: Record<string, string | Uint8Array>) {
  const { sandbox } = scriptedSandbox({});
  const store = new Map(
    Object.entries(files).map(([path, content]) => [
      path,
      typeof content === "string" ? Buffer.from(content) : content,
    ]),
  );
  const log: string[] = [];
  const bytesAt = (path: string): Uint8Array => {
    const bytes = store.get(sandbox.resolvePath(path));
    if (bytes === undefined) throw new Error(`ENOENT: no such file or directory, open '${path}'`);
    return bytes;
  };
  const env: Sandbox = {
    ...sandbox,
    async readFile(path) {
      log.push(`readFile ${path}`);
      return Buffer.from(bytesAt(path)).toString();
    },
    async readFileBuffer(path) {
      log.push(`readFileBuffer ${path}`);
      return bytesAt(path);
    },
    async writeFile(path, content) {
      log.push(`writeFile ${path}`);
      store.set(sandbox.resolvePath(path), Buffer.from(content));
    },
  };
  return { env, log, textOf: (path: string) => Buffer.from(store.get(path) ?? "").toString("latin1") };
}

async function textOf(running: Promise<{ content: { type: string; text?: string }[] }>): Promise<string | undefined> {
  return running.then(
    ({ content }) => content[0]?.text,
    (error: Error) => `threw ${error.message}`,
  );
}

const edit = (env: Sandbox, params: Record<string, unknown>) =>
  textOf(createEditTool(env).execute("c", { path: "a", newText: "y", ...params }));

describe("edit", () => {
  it("refuses a file that is not valid UTF-8, whose bytes stay as they are", async () => {
    const { env, log, textOf } = memorySandbox({ "/workspace/a": Buffer.from("x = 1 caf\xe9", "latin1") });
    expect(await edit(env, { oldText: "x" })).toBe("threw a is not valid UTF-8 text. No changes made.");
    expect(textOf("/workspace/a")).toBe("x = 1 caf\xe9");
    expect(log).toEqual(["readFileBuffer a"]);
  });

  it("keeps a byte order mark and a NUL byte, reading and writing once", async () => {
    const { env, log, textOf } = memorySandbox({ "/workspace/a": "\ufeffk\0x" });
    expect(await edit(env, { oldText: "x" })).toBe("Successfully edited a");
    expect(Buffer.from(textOf("/workspace/a"), "latin1").toString()).toBe("\ufeffk\0y");
    expect(log).toEqual(["readFileBuffer a", "writeFile a"]);
  });

  it("reads the text where the sandbox has no buffers", async () => {
    const { env, log } = memorySandbox({ "/workspace/a": "x" });
    const { readFileBuffer: _none, ...textOnly } = env;
    expect(await edit(textOnly as Sandbox, { oldText: "x" })).toBe("Successfully edited a");
    expect(log).toEqual(["readFile a", "writeFile a"]);
  });

  it.each(["$&", "$$", "$1", "$`", "$'", "\\1", "\\n"])(
    "writes %s as it was sent, once or everywhere",
    async (newText) => {
      const { env, textOf } = memorySandbox({ "/workspace/a": "1 x", "/workspace/b": "x x" });
      await edit(env, { oldText: "x", newText });
      await edit(env, { path: "b", oldText: "x", newText, replaceAll: true });
      expect([textOf("/workspace/a"), textOf("/workspace/b")]).toEqual([`1 ${newText}`, `${newText} ${newText}`]);
    },
  );

  it("finds nothing by half a character, so that no character is cut apart", async () => {
    const { env, log } = memorySandbox({ "/workspace/a": "x😀y" });
    expect(await edit(env, { oldText: "\ud83d" })).toMatch(/^threw Could not find the exact text in a\./);
    expect(await edit(env, { oldText: "\ude00y", replaceAll: true })).toBe(
      "threw Could not find the text in a. No changes made.",
    );
    expect(log.filter((call) => call.startsWith("writeFile"))).toEqual([]);
  });

  it("refuses an empty text before it looks at anything", async () => {
    const { env, log } = memorySandbox({});
    expect(await edit(env, { oldText: "" })).toBe("threw oldText must be a non-empty string.");
    expect(log).toEqual([]);
  });

  it("stops between reading and writing when it was aborted there", async () => {
    const { env, log } = memorySandbox({ "/workspace/a": "x" });
    const controller = new AbortController();
    const aborting: Sandbox = {
      ...env,
      async readFileBuffer(path) {
        controller.abort();
        return env.readFileBuffer(path);
      },
    };
    const running = createEditTool(aborting).execute("c", { path: "a", oldText: "x", newText: "y" }, controller.signal);
    await expect(running).rejects.toThrow("Operation aborted");
    expect(log).toEqual(["readFileBuffer a"]);
  });
});

describe("packaged skills", () => {
  it.each(["/.flue/packaged-skills/s/SKILL.md", "../.flue//packaged-skills/x", "/./.flue/packaged-skills/a/../b"])(
    "are never written or edited by the name %s",
    async (path) => {
      const { env, log } = memorySandbox({});
      const refusal = `threw ${path} is read-only.`;
      expect(await textOf(createWriteTool(env).execute("c", { path, content: "x" }))).toBe(refusal);
      expect(await edit(env, { path, oldText: "x" })).toBe(refusal);
      expect(log).toEqual([]);
    },
  );
});

describe("write", () => {
  it("is not begun when the abort came while it waited for another writer", async () => {
    const locks = createPathLocks();
    const { env, log } = memorySandbox({});
    const held = Promise.withResolvers<void>();
    const holder = locks.hold(env, "a", () => held.promise);
    const controller = new AbortController();
    const running = createWriteTool(env, locks).execute("c", { path: "a", content: "x" }, controller.signal);
    controller.abort();
    held.resolve();
    await expect(running).rejects.toThrow("Operation aborted");
    await holder;
    expect(log).toEqual([]);
  });

  it("and edit of one file in one batch both land, from a parent and from a child in another folder", async () => {
    const locks = createPathLocks();
    const { env, textOf } = memorySandbox({ "/workspace/sub/a": "" });
    const child = createCwdSandbox(env, "/workspace/sub");
    await Promise.all([
      createWriteTool(env, locks).execute("1", { path: "sub/a", content: "one two" }),
      createEditTool(child, locks).execute("2", { path: "a", oldText: "one", newText: "1" }),
      createEditTool(env, locks).execute("3", { path: "./sub//a", oldText: "two", newText: "2" }),
    ]);
    expect(textOf("/workspace/sub/a")).toBe("1 2");
  });
});

describe("read", () => {
  const tenLines = { "/workspace/a": Array.from({ length: 10 }, (_, i) => i + 1).join("\n") };
  const read = (params: Record<string, unknown>) =>
    textOf(createReadTool(memorySandbox(tenLines).env).execute("c", { path: "a", ...params }));

  it.each([
    [{ offset: 2.7, limit: 2.5 }, "2\n3"],
    [{ offset: -4, limit: 1 }, "1"],
    [{ offset: 0.5, limit: 1 }, "1"],
    [{ offset: 10, limit: 0 }, "10"],
    [{ offset: 10.9 }, "10"],
    [{ offset: 11.5 }, "threw Offset 11 is beyond end of file (10 lines total)"],
    [{ offset: 1e21 }, "threw Offset 1e+21 is beyond end of file (10 lines total)"],
    [{ limit: -1 }, "threw limit must be 1 or more."],
    [{ limit: 0.9 }, "threw limit must be 1 or more."],
    [{ limit: Number.POSITIVE_INFINITY }, "threw limit must be 1 or more."],
  ])("with %j gives whole lines or says why not", async (params, expected) => {
    expect(await read(params)).toBe(expected);
  });

  it("reads the file once and asks for nothing else", async () => {
    const { env, log } = memorySandbox(tenLines);
    await createReadTool(env).execute("c", { path: "./a" });
    expect(log).toEqual(["readFile ./a"]);
  });

  it("pages through a file without a gap or a repeat", async () => {
    const whole = Array.from({ length: 4100 }, (_, i) => `${i} ${"x".repeat(i % 40)}`);
    const tool = createReadTool(memorySandbox({ "/workspace/a": whole.join("\n") }).env);
    const seen: string[] = [];
    for (let offset = 1; ; ) {
      const text = (await textOf(tool.execute("c", { path: "a", offset }))) ?? "";
      const next = /\n\n\[Showing lines (\d+)-\d+ of 4100\. Use offset=(\d+) to continue\.\]$/.exec(text);
      seen.push(...(next ? text.slice(0, next.index) : text).split("\n"));
      if (!next) break;
      expect(Number(next[1])).toBe(offset);
      offset = Number(next[2]);
    }
    expect(seen).toEqual(whole);
  });
});
