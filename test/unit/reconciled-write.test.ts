/** A write that a crash may have cut, run again. Source: contract RUNTIME 2.6 (`reconcile`). */
import { describe, expect, it } from "vitest";
import type { Sandbox } from "../../containers/sandbox.ts";
import { INTERRUPTED_RESULT } from "../../durable-objects/protocol/interrupted.ts";
import {
  createEditTool,
  createPathLocks,
  createWriteTool,
  type IntentNotes,
} from "../../durable-objects/tools/index.ts";
import { scriptedSandbox } from "../contract/drivers/scripted.ts";

class Crash extends Error {}

/** One file, notes that survive, and a crash where it is wanted. */
function openFile(initial?: string) {
  const { sandbox } = scriptedSandbox({});
  const state: { content: string | undefined; writes: number; crash?: "before" | "after" } = {
    content: initial,
    writes: 0,
  };
  const env: Sandbox = {
    ...sandbox,
    async readFile() {
      if (state.content === undefined) throw new Error("ENOENT: no such file or directory, open 'f'");
      return state.content;
    },
    async readFileBuffer() {
      return Buffer.from(await env.readFile("f"));
    },
    async writeFile(_path, content) {
      if (state.crash === "before") throw new Crash();
      state.content = Buffer.from(content).toString();
      state.writes++;
      if (state.crash === "after") throw new Crash();
    },
  };
  const kept = new Map<string, Parameters<IntentNotes["record"]>[1]>();
  const notes: IntentNotes = { find: (id) => kept.get(id), record: (id, intent) => void kept.set(id, intent) };
  return { env, notes, state };
}

const LOCKS = createPathLocks();
const TOOLS = {
  write: {
    create: createWriteTool,
    args: { path: "f", content: "new\n" },
    text: "Successfully wrote 4 bytes to f",
  },
  edit: {
    create: createEditTool,
    args: { path: "f", oldText: "old", newText: "new" },
    text: "Successfully edited f",
  },
};

describe.each(Object.entries(TOOLS))("%s, cut by a crash and run again", (_name, { create, args, text }) => {
  const open = () => {
    const file = openFile("old\n");
    const run = async () => {
      const { content } = await create(file.env, LOCKS, file.notes).execute("call_1", args as never);
      return content.map((part) => (part.type === "text" ? part.text : "")).join("");
    };
    return { ...file, run };
  };

  it("is done once when the crash came before the write", async () => {
    const { run, state } = open();
    state.crash = "before";
    await expect(run()).rejects.toThrow(Crash);
    delete state.crash;
    await expect(run()).resolves.toBe(text);
    expect(state).toEqual({ content: "new\n", writes: 1 });
  });

  it("gives its ordinary result, and writes nothing, when the crash came after the write", async () => {
    const { run, state } = open();
    state.crash = "after";
    await expect(run()).rejects.toThrow(Crash);
    delete state.crash;
    await expect(run()).resolves.toBe(text);
    expect(state).toEqual({ content: "new\n", writes: 1 });
  });

  it("says that its outcome is unknown when the file is neither, and leaves it alone", async () => {
    const { run, state } = open();
    state.crash = "before";
    await expect(run()).rejects.toThrow(Crash);
    delete state.crash;
    state.content = "somebody else's\n";
    await expect(run()).rejects.toThrow(INTERRUPTED_RESULT);
    expect(state).toEqual({ content: "somebody else's\n", writes: 0 });
  });
});

describe("a write of a new file", () => {
  it("is told apart from one that was not done, lone surrogates included", async () => {
    const { env, notes, state } = openFile();
    const run = () => createWriteTool(env, LOCKS, notes).execute("call_1", { path: "f", content: "a\ud800" } as never);
    state.crash = "after";
    await expect(run()).rejects.toThrow(Crash);
    delete state.crash;
    await run();
    expect(state.writes).toBe(1);
  });
});
