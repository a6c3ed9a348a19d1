import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type AgentToolCall, runToolCall } from "@earendil-works/pi-agent-core";
import { fauxAssistantMessage } from "@earendil-works/pi-ai";
import { describe, expect, it } from "vitest";
import type { Sandbox } from "../../containers/sandbox.ts";
import {
  createActivateSkillTool,
  createReadSkillResourceTool,
  createSandboxTools,
  createTaskTool,
} from "../../durable-objects/tools/index.ts";
import { type Script, type ScriptedCall, scriptedSandbox } from "../contract/drivers/scripted.ts";

interface Definition {
  name: string;
  label: string;
  description: string;
  parameters: unknown;
}

const definitions = JSON.parse(
  readFileSync(join(import.meta.dirname, "../fixtures/tool-definitions.json"), "utf8"),
) as Definition[];

/** One call as the loop makes it: converted, validated, run. */
async function call(name: string, args: unknown, script: Script = {}, signal?: AbortSignal) {
  const { sandbox, log } = scriptedSandbox(script);
  const outcome = await runToolCall(
    // A model may send anything; the loop's type promises an object.
    { type: "toolCall", id: "call-1", name, arguments: args as AgentToolCall["arguments"] },
    {
      tools: createSandboxTools(sandbox),
      assistantMessage: fauxAssistantMessage(""),
      context: { messages: [] },
      ...(signal && { signal }),
    },
  );
  const [part] = outcome.result.content;
  return { text: part?.type === "text" ? part.text : undefined, outcome, log };
}

/** The path a call read from: what became of a `path` on its way to the driver. */
const pathRead = (log: readonly ScriptedCall[]) => log.find(({ verb }) => verb === "readFile")?.args[0];

const FIVE_LINES: Script = { readFile: [{ result: "1\n2\n3\n4\n5" }] };

describe("tool definitions", () => {
  it.each(definitions)("show $name to the model to the character, in the contract's key order", (definition) => {
    const tools = [
      ...createSandboxTools(scriptedSandbox({}).sandbox),
      ...[
        createTaskTool({ available: () => [] }),
        createActivateSkillTool(async () => ""),
        createReadSkillResourceTool([]),
      ],
    ];
    const tool = tools.find(({ name }) => name === definition.name);
    expect([tool?.label, tool?.description]).toEqual([definition.label, definition.description]);
    expect(JSON.stringify(tool?.parameters)).toBe(JSON.stringify(definition.parameters));
  });

  it("stand in the contract's order, each with what a crash makes of it", () => {
    const tools = createSandboxTools(scriptedSandbox({}).sandbox);
    expect(tools.map(({ name, replayPolicy }) => [name, replayPolicy])).toEqual([
      ["read", "rerun"],
      ["write", "reconcile"],
      ["edit", "reconcile"],
      ["bash", "reattach"],
      ["grep", "rerun"],
      ["glob", "rerun"],
    ]);
  });

  it("are three where the sandbox has no shell", () => {
    const { exec: _exec, ...files } = scriptedSandbox({}).sandbox;
    expect(createSandboxTools(files as Sandbox).map(({ name }) => name)).toEqual(["read", "write", "edit"]);
  });
});

describe("a tool call", () => {
  it("tells an unknown tool by name", async () => {
    const { text, outcome } = await call("list", {});
    expect([text, outcome.isError]).toEqual(["Tool list not found", true]);
  });

  it("lists every fault of its arguments and shows them as they came", async () => {
    const { text, outcome, log } = await call("edit", { oldText: ["a"], newText: "b", replaceAll: "yes" });
    expect(outcome.isError).toBe(true);
    expect(text).toBe(
      [
        'Validation failed for tool "edit":',
        "  - path: missing",
        "  - oldText: expected string, got array",
        "  - replaceAll: expected boolean, got string",
        "",
        "Received arguments:",
        JSON.stringify({ oldText: ["a"], newText: "b", replaceAll: "yes" }, null, 2),
      ].join("\n"),
    );
    expect(log).toEqual([]);
  });

  it("shows a null among the received arguments, since that is what the model sent", async () => {
    const { text } = await call("read", { offset: null });
    expect(text).toContain('"offset": null');
  });

  it.each([
    ["3", 3],
    [" 3 ", 3],
    ["0x3", 3],
    ["", 1],
    [true, 1],
  ])("takes offset %j for line %s", async (offset, line) => {
    expect((await call("read", { path: "a", offset }, FIVE_LINES)).text).toMatch(new RegExp(`^${line}\n`));
  });

  it("takes null for an optional parameter as absent, for every tool", async () => {
    expect((await call("read", { path: "a", offset: null, limit: null }, FIVE_LINES)).text).toBe("1\n2\n3\n4\n5");
    const edit = { path: "a", oldText: "1", newText: "x", replaceAll: null };
    expect((await call("edit", edit, FIVE_LINES)).text).toBe("Successfully edited a");
    expect((await call("bash", { command: "c", timeout: null })).text).toBe("(no output)");
    const { log } = await call("glob", { pattern: "x", path: null });
    expect(log[0]?.args[0]).toContain("find '.' ");
  });

  it("takes null and numbers for a required text as their text", async () => {
    expect(pathRead((await call("read", { path: null })).log)).toBe("/workspace/null");
    expect(pathRead((await call("read", { path: 7 })).log)).toBe("/workspace/7");
  });

  it("ignores parameters it does not know", async () => {
    expect((await call("read", { path: "a", limit: 1, lines: 9 }, FIVE_LINES)).text).toBe("1");
  });

  it.each([1, "true", "True"])("takes replaceAll %j for yes", async (replaceAll) => {
    const args = { path: "a", oldText: "x", newText: "y", replaceAll };
    expect((await call("edit", args, { readFile: [{ result: "x x" }] })).text).toBe("Replaced 2 occurrences in a");
  });

  it("makes a thrown message the text of an error result", async () => {
    const { text, outcome } = await call("read", { path: "a" }, { readFile: [{ error: "ENOENT: gone" }] });
    expect([text, outcome.isError, outcome.result.details]).toEqual(["ENOENT: gone", true, {}]);
  });

  it("never runs once aborted", async () => {
    const { text, log } = await call("bash", { command: "c" }, {}, AbortSignal.abort(new Error("reason")));
    expect(text).toBe("Operation aborted");
    expect(log).toEqual([]);
  });

  it("has well-formed text although its path holds half a character", async () => {
    const { text } = await call("write", { path: "a\ud83d", content: "x" });
    expect(text).toBe("Successfully wrote 1 bytes to a\ufffd");
    const failed = await call("edit", { path: "a\ud83d", oldText: "q", newText: "x" });
    expect(failed.text).toMatch(/^Could not find the exact text in a\ufffd\./);
  });
});

describe("the task tool", () => {
  const run = async (tool: ReturnType<typeof createTaskTool>, agent: string) => {
    const { content, details } = await tool.execute("c", { prompt: "p", agent });
    return { text: content[0]?.type === "text" ? content[0].text : "", details };
  };

  it("answers as a success that a subagent is not declared", async () => {
    expect(await run(createTaskTool({ available: () => [] }), "x")).toEqual({
      text: 'Subagent "x" is not declared. Available subagents: (none).',
      details: { agent: "x", available: [] },
    });
  });

  it("names the declared ones, and delegates to one of them only", async () => {
    const delegate = async () => ({ text: "answer", details: {} });
    const tool = createTaskTool({ available: () => ["a", "b"], delegate });
    expect((await run(tool, " ")).text).toBe('Subagent " " is not declared. Available subagents: a, b.');
    expect((await run(tool, "b")).text).toBe("answer");
    expect(tool.replayPolicy).toBe("resume");
  });
});
