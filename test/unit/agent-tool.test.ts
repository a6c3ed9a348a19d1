/** Tools of an agent's author. Source: contract RUNTIME 2.6, 4. */
import { Type } from "@sinclair/typebox";
import { describe, expect, it } from "vitest";
import type { AuthoredTool, AuthorTool } from "../../durable-objects/agent/author-tool.ts";
import type { HarnessSource } from "../../durable-objects/agent/harness-source.ts";
import { type Harness, useModel, useTool } from "../../durable-objects/agent/index.ts";
import { renderAgent } from "../../durable-objects/agent/render-agent.ts";
import type { StepNotes } from "../../durable-objects/tools/define-tool.ts";
import { createSettings } from "./fixtures/settings.ts";

function mount(...definitions: unknown[]): AuthoredTool[] {
  const agent = () => {
    useModel("scripted/demo");
    for (const definition of definitions) useTool(definition as AuthorTool);
    return undefined;
  };
  return renderAgent({ name: "tester", agent, http: true }, { id: "c1", settings: createSettings() }).tools;
}

function define(over: Record<string, unknown> = {}): Record<string, unknown> {
  return { name: "weather", description: "Tell the weather.", run: () => "fine", ...over };
}

function renderTool(definition: Record<string, unknown>): AuthoredTool {
  const [tool] = mount(definition);
  if (tool === undefined) throw new Error("no tool");
  return tool;
}

async function run(definition: Record<string, unknown>, args: Record<string, unknown> = {}, signal?: AbortSignal) {
  const tool = renderTool(definition);
  const result = await tool.execute("call_1", args, signal);
  return { ...result, text: result.content.map((part) => (part.type === "text" ? part.text : "?")).join("|") };
}

describe("a tool with harness: true", () => {
  /** A source that counts what is opened and closed. */
  function countingSource() {
    const log: string[] = [];
    const source: HarnessSource = {
      open({ name, id }) {
        log.push(`open ${name} ${id}`);
        return { harness: { name } as Harness, close: () => void log.push("close") };
      },
    };
    return { log, source };
  }

  async function call(run: (context: { harness: Harness }) => unknown): Promise<string[]> {
    const { log, source } = countingSource();
    const tool = renderTool(define({ harness: true, run })).withHarness?.(source);
    await tool?.execute("call_1", {}).catch(() => log.push("failed"));
    return log;
  }

  it("opens its harness when it first looks at it, once, and closes it with the call", async () => {
    expect(await call(async (context) => `${context.harness.name}${context.harness.name}`)).toEqual([
      "open weather call_1",
      "close",
    ]);
  });

  it("opens none when it does not look", async () => {
    expect(await call(() => "fine")).toEqual([]);
  });

  it("closes it when it fails too", async () => {
    const log = await call(({ harness }) => {
      throw new Error(harness.name);
    });
    expect(log).toEqual(["open weather call_1", "close", "failed"]);
  });

  it("is given steps as well when it is durable, in either order", () => {
    const notes: StepNotes = { find: () => undefined, record: () => undefined };
    const { source } = countingSource();
    const tool = renderTool(define({ harness: true, durable: true }));
    expect(tool.withSteps?.(notes).withHarness?.(source)).toMatchObject({ replayPolicy: "steps" });
    expect(tool.withHarness?.(source).withSteps?.(notes)).toMatchObject({ replayPolicy: "steps" });
    expect(renderTool(define()).withHarness).toBeUndefined();
  });
});

describe("an author's tool", () => {
  it("is never run again silently after a crash", () => {
    expect(mount(define())[0]).toMatchObject({ name: "weather", replayPolicy: "unknown" });
  });

  it("stands in call order with its own schema", () => {
    const input = Type.Object({ city: Type.String() });
    const tools = mount(define({ name: "b", input }), define({ name: "a" }));
    expect(tools.map((tool) => tool.name)).toEqual(["b", "a"]);
    expect(tools[0]?.parameters).toBe(input);
    expect(tools[1]?.parameters).toMatchObject({ type: "object", properties: {} });
  });

  it("gets its arguments as data, the call's id and its signal", async () => {
    const seen: unknown[] = [];
    const controller = new AbortController();
    await run(
      define({
        input: Type.Object({ city: Type.String() }),
        run: (context: Record<string, unknown>) => {
          seen.push(context.data, context.toolCallId, context.signal);
        },
      }),
      { city: "Oslo" },
      controller.signal,
    );
    expect(seen).toEqual([{ city: "Oslo" }, "call_1", controller.signal]);
  });

  it("gets no arguments when it declares none, whatever the model sent", async () => {
    const seen: unknown[] = [];
    await run(define({ run: (context: object) => void seen.push(Object.keys(context)) }), { surprise: 1 });
    expect(seen).toEqual([["toolCallId", "log"]]);
  });

  it.each<[string, unknown, string]>([
    ["a string as it is", "plain text", "plain text"],
    ["nothing as null", undefined, "null"],
    ["an object as JSON", { output: { a: [1] } }, '{"a":[1]}'],
    ["a string in output as JSON", { output: "x" }, '"x"'],
    ["an empty envelope as null", {}, "null"],
  ])("sends %s", async (_what, returned, text) => {
    const result = await run(define({ run: async () => returned }));
    expect(result.text).toBe(text);
    expect(result.terminate).toBeUndefined();
  });

  it("ends the turn when it says so", async () => {
    expect((await run(define({ run: () => ({ output: 1, terminate: true }) }))).terminate).toBe(true);
  });

  it.each([[5], [null], [["x"]], [{ result: 1 }], [{ terminate: "yes" }], [true]])(
    "refuses to return %j and says how to wrap it",
    async (returned) => {
      await expect(run(define({ run: () => returned }))).rejects.toThrow(/Wrap a value as \{ output: value \}/);
    },
  );

  it("refuses an output that JSON cannot hold", async () => {
    await expect(run(define({ run: () => ({ output: () => 1 }) }))).rejects.toThrow(/not JSON/);
  });

  it("holds its output to the declared schema", async () => {
    const output = Type.Object({ sky: Type.String() });
    await expect(run(define({ output, run: () => ({ output: { sky: 1 } }) }))).rejects.toThrow(
      /does not fit its schema: \/sky/,
    );
    await expect(run(define({ output, run: () => undefined }))).rejects.toThrow(/does not fit its schema/);
    expect((await run(define({ output, run: () => ({ output: { sky: "clear" } }) }))).text).toBe('{"sky":"clear"}');
  });

  it("does not start once the call is aborted", async () => {
    let started = false;
    const definition = define({
      run: () => {
        started = true;
      },
    });
    await expect(run(definition, {}, AbortSignal.abort())).rejects.toThrow("Operation aborted");
    expect(started).toBe(false);
  });

  it.each<[Record<string, unknown>, RegExp]>([
    [{ colour: "red" }, /unknown field "colour"/],
    [{ name: "" }, /name must be a non-empty string/],
    [{ description: undefined }, /description must be a non-empty string/],
    [{ run: "x" }, /run must be a function/],
    [{ input: Type.String() }, /input must be a schema of an object/],
    [{ input: Type.Union([Type.Object({}), Type.Object({})]) }, /input must be a schema of an object/],
    [{ harness: "yes" }, /harness must be true or false/],
    [{ durable: 1 }, /durable must be true or false/],
    [{ approval: "always" }, /approval is not supported yet/],
  ])("refuses a definition with %j and names agent and hook", (over, text) => {
    expect(() => mount(define(over))).toThrow(text);
    expect(() => mount(define(over))).toThrow(/^Agent "tester" misused useTool\(\)/);
  });

  it.each(["task", "activate_skill", "read_skill_resource", "finish", "give_up"])("may not be called %s", (name) => {
    expect(() => mount(define({ name }))).toThrow(`Tool name "${name}" is reserved by the framework.`);
  });

  it("may have a name once, and the conflict carries its code", () => {
    try {
      mount(define(), define());
      expect.unreachable();
    } catch (error) {
      expect(error).toMatchObject({ type: "tool_name_conflict", message: 'Duplicate tool name "weather".' });
    }
  });
});
