/** The rules of rendering an agent and of each hook. Source: contract RUNTIME 4, TOOLS 12. */
import { describe, expect, it } from "vitest";
import type { SandboxFactory } from "../../containers/sandbox.ts";
import type { Agent, RenderedAgent } from "../../durable-objects/agent/agent.ts";
import { defaultModel, useInstruction, useModel, useSandbox, useTool } from "../../durable-objects/agent/index.ts";
import { renderAgent } from "../../durable-objects/agent/render-agent.ts";
import { createSettings } from "./fixtures/settings.ts";

const settings = createSettings({ model: "openai/gpt-5" });

function render(agent: Agent, subagent = false): RenderedAgent {
  return renderAgent(
    { name: "tester", agent, http: true },
    subagent ? { id: "c1", settings, subagent } : { id: "c1", settings },
  );
}

/** What an author who does not use TypeScript may write. */
function untyped<T>(value: unknown): T {
  return value as T;
}

function withModel(body: () => unknown): Agent {
  return () => {
    useModel("scripted/demo");
    return untyped(body());
  };
}

const factory: SandboxFactory = {
  kind: "fake",
  createSandbox: () => Promise.reject(new Error("not opened in a render")),
};

describe("an agent's render", () => {
  it("joins the returned text and the instructions with a blank line, the returned text first", () => {
    const rendered = render(({ id }) => {
      useModel("scripted/demo");
      useInstruction("second");
      useInstruction("third");
      return `first of ${id}`;
    });
    expect(rendered.instructions).toBe("first of c1\n\nsecond\n\nthird");
  });

  it("takes the instructions alone when nothing is returned", () => {
    expect(render(withModel(() => useInstruction("only"))).instructions).toBe("only");
  });

  it("starts from nothing each time, so that a condition that ended leaves no trace", () => {
    let on = true;
    const agent = withModel(() => {
      if (on) useInstruction("sometimes");
      if (on) useSandbox(factory);
    });
    expect(render(agent).sandbox?.factory).toBe(factory);
    on = false;
    expect(render(agent)).toMatchObject({ instructions: "", tools: [] });
    expect(render(agent).sandbox).toBeUndefined();
  });

  it("refuses an async agent and names it, without an unhandled rejection", () => {
    const agent = untyped<Agent>(async () => {
      useModel("scripted/demo");
      throw new Error("late");
    });
    expect(() => render(agent)).toThrow(/Agent "tester" is an async function/);
  });

  it.each([[42], [{}], [null], [true]])("refuses the return value %j and names the agent", (value) => {
    expect(() => render(withModel(() => value))).toThrow(/Agent "tester" must return a string or nothing/);
  });

  it("refuses a render inside a render, names both agents, and leaves the outer frame usable afterwards", () => {
    const inner: Agent = () => "x";
    const outer = withModel(() => {
      renderAgent({ name: "inner", agent: inner, http: true }, { id: "c", settings });
    });
    expect(() => render(outer)).toThrow(/Agent "tester" rendered agent "inner" inside its own render/);
    expect(render(withModel(() => "fine")).instructions).toBe("fine");
  });

  it("names the agent that throws, keeps its words for the log, and frees the frame for the next render", () => {
    const cause = new Error("agent code");
    const attempt = () =>
      render(() => {
        throw cause;
      });
    expect(attempt).toThrow(expect.objectContaining({ type: "operation_failed", cause }));
    expect(attempt).toThrow(/^Agent "tester" threw in its render\. The log says more\.$/);
    expect(render(withModel(() => "fine")).instructions).toBe("fine");
  });

  it.each<[string, () => void]>([
    ["useModel", () => useModel("a/b")],
    ["useSandbox", () => useSandbox(factory)],
    ["useTool", () => useTool({ name: "t", description: "d", run: () => "" })],
    ["useInstruction", () => useInstruction("x")],
    ["defaultModel", () => defaultModel()],
  ])("makes %s throw and name itself when it is called outside", (name, call) => {
    expect(call).toThrow(new RegExp(`^${name}\\(\\) was called outside the render`));
  });

  it("makes a hook after an await throw, for the render is over by then", async () => {
    let late: Promise<unknown> = Promise.resolve();
    const agent = withModel(() => {
      late = Promise.resolve().then(() => useInstruction("late"));
    });
    render(agent);
    await expect(late).rejects.toThrow(/useInstruction\(\) was called outside/);
  });
});

describe("useModel", () => {
  it("is required", () => {
    expect(() => render(() => "x")).toThrow(/Agent "tester" did not call useModel\(\)/);
  });

  it("refuses a second call", () => {
    expect(() => render(withModel(() => useModel("a/b")))).toThrow(
      /Agent "tester" misused useModel\(\): it was called twice/,
    );
  });

  it("thinks at medium unless told otherwise", () => {
    expect(render(withModel(() => undefined)).model).toEqual({ spec: "scripted/demo", thinkingLevel: "medium" });
  });

  it("keeps level and compaction as given", () => {
    const rendered = render(() => {
      useModel("a/b", { thinkingLevel: "max", compaction: { keepRecentTokens: 100 } });
      return undefined;
    });
    expect(rendered.model).toEqual({ spec: "a/b", thinkingLevel: "max", compaction: { keepRecentTokens: 100 } });
  });

  it.each<[unknown, RegExp]>([
    [{ thinkingLevel: "huge" }, /thinkingLevel must be one of off, minimal/],
    [{ temperature: 1 }, /unknown field "temperature"/],
    [{ compaction: { when: 1 } }, /compaction received unknown field "when"/],
    [{ compaction: { reserveTokens: 0 } }, /reserveTokens must be a positive whole number/],
    [{ compaction: true }, /compaction must be false or an object/],
    ["high", /options must be an object/],
  ])("refuses the options %j", (options, text) => {
    expect(() => render(() => untyped(useModel("a/b", untyped(options))))).toThrow(text);
  });

  it.each([[""], ["  "], [undefined], [7]])("refuses the model %j", (spec) => {
    expect(() => render(() => untyped(useModel(untyped(spec))))).toThrow(/must be a non-empty string/);
  });

  it("is not for delegates, which inherit the model and need not call it", () => {
    expect(() =>
      render(
        withModel(() => "x"),
        true,
      ),
    ).toThrow(/not available in a subagent render/);
    expect(render(() => "delegate", true).instructions).toBe("delegate");
  });
});

describe("defaultModel", () => {
  it("is what BERTH_MODEL says", () => {
    expect(render(() => untyped(useModel(defaultModel()))).model.spec).toBe("openai/gpt-5");
  });
});

describe("useInstruction", () => {
  it.each([[""], [" \n"], [undefined], [3]])("refuses the text %j", (text) => {
    expect(() => render(withModel(() => useInstruction(untyped(text))))).toThrow(
      /Agent "tester" misused useInstruction/,
    );
  });
});

describe("useSandbox", () => {
  const NEEDS_FACTORY =
    "[flue] useSandbox() requires a sandbox factory (an object with createSandbox()), like the value local() returns.";

  function textOf(body: () => void, subagent = false): string {
    try {
      render(subagent ? () => untyped(body()) : withModel(body), subagent);
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
    return "no error";
  }

  it("keeps factory and cwd", () => {
    expect(render(withModel(() => useSandbox(factory, { cwd: "/w" }))).sandbox).toEqual({ factory, cwd: "/w" });
  });

  it.each([[undefined], [null], ["virtual"], [{}], [{ createSandbox: 1 }]])("refuses %j for a factory", (value) => {
    expect(textOf(() => useSandbox(untyped(value)))).toBe(NEEDS_FACTORY);
  });

  it("refuses tools that are no function", () => {
    expect(textOf(() => useSandbox(untyped({ ...factory, tools: [] })))).toBe(
      "[flue] useSandbox() sandbox `tools` must be a function when present.",
    );
  });

  it("refuses a second call", () => {
    expect(
      textOf(() => {
        useSandbox(factory);
        useSandbox(factory);
      }),
    ).toBe(
      "[flue] useSandbox() was called twice in one render. An agent has one environment — attach it once, in the agent body or a single custom hook.",
    );
  });

  it.each<[unknown, string]>([
    [null, "[flue] useSandbox() options must be an object."],
    ["/w", "[flue] useSandbox() options must be an object."],
    [{ dir: "/w" }, '[flue] useSandbox() options received unknown field "dir".'],
    [{ cwd: "" }, "[flue] useSandbox() options.cwd must be a non-empty string."],
    [{ cwd: 1 }, "[flue] useSandbox() options.cwd must be a non-empty string."],
  ])("refuses the options %j", (options, text) => {
    expect(textOf(() => useSandbox(factory, untyped(options)))).toBe(text);
  });

  it("refuses a delegate before it looks at anything else", () => {
    expect(textOf(() => useSandbox(untyped(null)), true)).toBe(
      "[flue] useSandbox() is not available in a subagent render. Delegates share the parent agent's environment (scope work with the task call's cwd instead).",
    );
  });

  it("refuses a factory of the wrong shape before a second call, and a second call before its options", () => {
    expect(
      textOf(() => {
        useSandbox(factory);
        useSandbox(untyped({}));
      }),
    ).toBe(NEEDS_FACTORY);
    expect(
      textOf(() => {
        useSandbox(factory);
        useSandbox(factory, untyped(3));
      }),
    ).toContain("called twice");
  });

  it("refuses approval rules while nothing would keep them", () => {
    expect(textOf(() => useSandbox(factory, { approval: { bash: "always" } }))).toContain(
      "approval is not supported yet",
    );
  });
});
