/** Which tools an attempt has. Source: contract TOOLS 1, 12, 14. */
import { describe, expect, it, vi } from "vitest";
import type { Sandbox, SandboxFactory } from "../../containers/sandbox.ts";
import type { RenderedAgent } from "../../durable-objects/agent/agent.ts";
import { createBashTool, createReadTool, createWriteTool } from "../../durable-objects/agent/index.ts";
import { assembleTools } from "../../durable-objects/conversation/turn/tool-bench.ts";
import type { DurableTool } from "../../durable-objects/tools/define-tool.ts";
import { createPathLocks } from "../../durable-objects/tools/index.ts";
import { scriptedSandbox } from "../contract/drivers/scripted.ts";

const { sandbox } = scriptedSandbox({});

const CALLS: Parameters<typeof assembleTools>[2] = {
  locks: createPathLocks(),
  notes: {
    intents: { find: () => undefined, record: () => undefined },
    steps: { find: () => undefined, record: () => undefined },
  },
  harnesses: {
    open() {
      throw new Error("No tool here asks for a harness.");
    },
  },
};

function toolNamed(name: string): DurableTool {
  return { ...createReadTool(sandbox), name };
}

function assemble(tools: SandboxFactory["tools"] | undefined, own: DurableTool[] = [], env: Sandbox = sandbox) {
  const factory: SandboxFactory = { createSandbox: async () => env, ...(tools && { tools }) };
  const rendered: RenderedAgent = {
    ...{ instructions: "", model: { spec: "scripted/demo", thinkingLevel: "medium" }, sandbox: { factory } },
    tools: own,
  };
  return assembleTools(rendered, env, CALLS).map(({ name }) => name);
}

describe("the tools of an attempt", () => {
  it("are the six, then the framework's, then the author's", () => {
    const six = ["read", "write", "edit", "bash", "grep", "glob"];
    expect(assemble(undefined, [toolNamed("mine")])).toEqual([...six, "task", "mine"]);
  });

  it("are a factory's own in place of the six, with the framework's still there", () => {
    const tools = vi.fn((env: Sandbox) => [createReadTool(env), createBashTool(env), toolNamed("deploy")]);
    expect(assemble(tools, [toolNamed("mine")])).toEqual(["read", "bash", "deploy", "task", "mine"]);
    expect(tools).toHaveBeenCalledWith(sandbox, { subagents: [] });
  });

  it("may be none of a factory", () => {
    expect(assemble(() => [])).toEqual(["task"]);
  });

  it("are made afresh for every list, with the factory as `this`", () => {
    const seen: unknown[] = [];
    const factory = {
      createSandbox: async () => sandbox,
      tools(this: unknown) {
        seen.push(this);
        return [];
      },
    };
    const rendered: RenderedAgent = {
      ...{ instructions: "", model: { spec: "scripted/demo", thinkingLevel: "medium" as const }, sandbox: { factory } },
      tools: [],
    };
    assembleTools(rendered, sandbox, CALLS);
    assembleTools(rendered, sandbox, CALLS);
    expect(seen).toEqual([factory, factory]);
  });

  it.each(["task", "activate_skill", "read_skill_resource", "finish", "give_up"])(
    "may not have the framework's name %s in a factory's list",
    (name) => {
      expect(() => assemble(() => [toolNamed(name)])).toThrow(`Tool name "${name}" is reserved by the framework.`);
    },
  );

  it("may not have a name twice, wherever the two come from", () => {
    expect(() => assemble(undefined, [toolNamed("bash")])).toThrow('Duplicate tool name "bash".');
    expect(() => assemble((env) => [createReadTool(env), createReadTool(env)])).toThrow('Duplicate tool name "read".');
    expect(assemble(() => [], [toolNamed("bash")])).toEqual(["task", "bash"]);
  });

  it("are read, write and edit where the sandbox has no shell, unless a factory says otherwise", () => {
    const { exec: _exec, ...files } = sandbox;
    expect(assemble(undefined, [], files as Sandbox)).toEqual(["read", "write", "edit", "task"]);
    expect(assemble((env) => [createWriteTool(env)], [], files as Sandbox)).toEqual(["write", "task"]);
  });

  it.each([undefined, "read", [{ name: "x" }], [undefined]])("are refused when a factory gives %j", (given) => {
    expect(() => assemble((() => given) as unknown as NonNullable<SandboxFactory["tools"]>)).toThrow(
      "[flue] useSandbox() sandbox `tools` must return an array of tools.",
    );
  });
});
