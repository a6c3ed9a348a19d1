/** Which tools an attempt has. Source: contract TOOLS 1, 12, 14. */
import { describe, expect, it, vi } from "vitest";
import type { Sandbox, SandboxFactory } from "../../containers/sandbox.ts";
import type { RenderedAgent } from "../../durable-objects/agent/agent.ts";
import { createBashTool, createReadTool, createWriteTool } from "../../durable-objects/agent/index.ts";
import { assembleTools } from "../../durable-objects/conversation/turn/tool-bench.ts";
import { packageDefinition } from "../../durable-objects/skills/package-definition.ts";
import type { PackagedSkill, WorkspaceSkill } from "../../durable-objects/skills/skill.ts";
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
  workspaceSkills: [],
};

function toolNamed(name: string): DurableTool {
  return { ...createReadTool(sandbox), name };
}

const PLAIN = packageDefinition({ name: "plain", description: "d", instructions: "i" });
const FILED = packageDefinition({ name: "filed", description: "d", instructions: "i", files: { "a.md": "of a" } });
const FOUND: WorkspaceSkill = { name: "found", description: "d", directory: "/workspace/.agents/skills/found" };

/** With these skills, in a sandbox or without one. */
function bench(skills: PackagedSkill[], found: WorkspaceSkill[] = [], factory?: SandboxFactory): DurableTool[] {
  const rendered: RenderedAgent = {
    ...{
      instructions: "",
      model: { spec: "scripted/demo", thinkingLevel: "medium" },
      tools: [toolNamed("mine")],
      skills,
    },
    ...(factory && { sandbox: { factory } }),
  };
  return assembleTools(rendered, factory && sandbox, { ...CALLS, workspaceSkills: found });
}

const namesOf = (tools: DurableTool[]) => tools.map(({ name }) => name);

function assemble(tools: SandboxFactory["tools"] | undefined, own: DurableTool[] = [], env: Sandbox = sandbox) {
  const factory: SandboxFactory = { createSandbox: async () => env, ...(tools && { tools }) };
  const rendered: RenderedAgent = {
    ...{ instructions: "", model: { spec: "scripted/demo", thinkingLevel: "medium" }, sandbox: { factory } },
    tools: own,
    skills: [],
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
      skills: [],
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

  it("are joined by activate_skill while there is a skill, and by read_skill_resource while one has files", () => {
    expect(namesOf(bench([]))).toEqual(["task", "mine"]);
    expect(namesOf(bench([PLAIN]))).toEqual(["task", "activate_skill", "mine"]);
    expect(namesOf(bench([PLAIN, FILED]))).toEqual(["task", "activate_skill", "read_skill_resource", "mine"]);
  });

  it("offer workspace skills with a sandbox only, which has the files", () => {
    const factory: SandboxFactory = { createSandbox: async () => sandbox, tools: () => [] };
    expect(namesOf(bench([], [FOUND], factory))).toEqual(["task", "activate_skill", "mine"]);
    expect(namesOf(bench([], [FOUND]))).toEqual(["task", "mine"]);
  });

  it("may be run again after a crash where they only look at skills", () => {
    const policies = bench([FILED]).map(({ name, replayPolicy }) => [name, replayPolicy]);
    expect(policies).toContainEqual(["activate_skill", "rerun"]);
    expect(policies).toContainEqual(["read_skill_resource", "rerun"]);
  });

  it("read packaged files through the sandbox, a factory's own too, and the sandbox itself is left as it is", async () => {
    const tools = vi.fn((env: Sandbox) => [createReadTool(env)]);
    const [read] = bench([FILED], [], { createSandbox: async () => sandbox, tools });
    const path = `/.flue/packaged-skills/${FILED.id}/a.md`;
    expect(await read?.execute("c", { path })).toMatchObject({ content: [{ type: "text", text: "of a" }] });
    expect(tools.mock.calls[0]?.[0].readFile).not.toBe(sandbox.readFile);
    await expect(sandbox.readFile(path)).resolves.toBe("");
  });
});
