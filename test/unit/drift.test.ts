/** What a model is told of a changed surface, to the character. Source: contract RUNTIME 5 ("Signals on change"). */
import { Type } from "@sinclair/typebox";
import { describe, expect, it } from "vitest";
import type { RenderedAgent } from "../../durable-objects/agent/agent.ts";
import { findDrift } from "../../durable-objects/prompt/drift.ts";
import { inToldOrder, surfaceOf } from "../../durable-objects/prompt/surface.ts";
import type { Surface } from "../../durable-objects/protocol/surface.ts";
import type { DurableTool } from "../../durable-objects/tools/define-tool.ts";

const rendered: RenderedAgent = {
  instructions: "You help.",
  model: { spec: "scripted/demo", thinkingLevel: "medium" },
  tools: [],
};

function tool(name: string, description = `Does ${name}.`, parameters = Type.Object({})): DurableTool {
  return { name, label: name, description, parameters, execute: () => Promise.reject(new Error("not run")) };
}

interface Offer {
  instructions?: string;
  sandbox?: Surface["sandbox"];
  tools?: DurableTool[];
  skills?: [name: string, description: string][];
  agents?: [name: string, description: string][];
}

function surface({ instructions = "You help.", sandbox, tools = [], skills = [], agents = [] }: Offer = {}): Surface {
  const catalogue = (entries: [string, string][]) => entries.map(([name, description]) => ({ name, description }));
  const parts = { sandbox, tools, skills: catalogue(skills), agents: catalogue(agents) };
  return surfaceOf({ rendered: { ...rendered, instructions }, ...parts });
}

function told(before: Offer, now: Offer, isLost = false): [kind: string, body: string][] {
  const signals = findDrift(surface(before), surface(now), now.instructions ?? "You help.", isLost);
  return signals.map(({ signalType, attributes, body }) => [attributes?.resource ?? signalType, body]);
}

const here = { kind: "virtual", cwd: "/workspace" };

describe("the drift of a surface", () => {
  it("is nothing where nothing changed", () => {
    const offer: Offer = { sandbox: here, tools: [tool("a")], skills: [["s", "d"]], agents: [["x", "y"]] };
    expect(told(offer, offer)).toEqual([]);
  });

  it("tells one new skill with its line, and the whole roster last", () => {
    const before: Offer = { skills: [["faq", "Answers."]] };
    expect(
      told(before, {
        skills: [
          ["faq", "Answers."],
          ["refunds", "Pays back."],
        ],
      }),
    ).toEqual([["skill", "New skill available:\n- **refunds** — Pays back.\nAll available skills: faq, refunds"]]);
  });

  it("tells several new ones together, and what is gone", () => {
    expect(
      told(
        { skills: [["old", "o"]] },
        {
          skills: [
            ["a", "A."],
            ["b", "B."],
          ],
        },
      ),
    ).toEqual([
      [
        "skill",
        'New skills available:\n- **a** — A.\n- **b** — B.\nThe skill "old" is no longer available.\nAll available skills: a, b',
      ],
    ]);
    expect(told({ skills: [["old", "o"]] }, {})).toEqual([
      ["skill", 'The skill "old" is no longer available.\nAll available skills: (none)'],
    ]);
  });

  it("tells a tool as updated when its description or its parameters are others", () => {
    const updated = 'The tool "a" was updated.\nAll available tools: a';
    expect(told({ tools: [tool("a")] }, { tools: [tool("a", "Does more.")] })).toEqual([["tool", updated]]);
    const parameters = Type.Object({ city: Type.String() });
    expect(told({ tools: [tool("a")] }, { tools: [tool("a", "Does a.", parameters)] })).toEqual([["tool", updated]]);
  });

  it("tells a skill or an agent as updated with its new line", () => {
    expect(told({ agents: [["x", "old"]] }, { agents: [["x", "new"]] })).toEqual([
      ["subagent", 'The agent "x" was updated:\n- **x** — new\nAll available agents: x'],
    ]);
  });

  it("tells each changed kind by itself", () => {
    const kinds = told({}, { skills: [["s", "d"]], tools: [tool("t")], agents: [["a", "d"]], instructions: "New." });
    expect(kinds.map(([kind]) => kind)).toEqual(["skill", "tool", "subagent", "instructions"]);
  });

  it("does not take another order for a change", () => {
    expect(told({ tools: [tool("a"), tool("b")] }, { tools: [tool("b"), tool("a")] })).toEqual([]);
  });

  it("tells new instructions whole", () => {
    expect(told({}, { instructions: "Be\nbrief." })).toEqual([
      ["instructions", "System instructions updated.\n\nBe\nbrief."],
    ]);
    expect(told({}, { instructions: "" })[0]?.[1]).toContain("no instructions any more");
  });

  it.each<[string, Offer, Offer, RegExp]>([
    [
      "attached",
      {},
      { sandbox: here, tools: [tool("read")] },
      /^A sandbox is attached now.*Working directory: \/workspace/s,
    ],
    [
      "detached",
      { sandbox: here, tools: [tool("read")] },
      {},
      /^The sandbox is no longer attached.*There is no sandbox/s,
    ],
    [
      "of another kind",
      { sandbox: here },
      { sandbox: { ...here, kind: "container" } },
      /^The sandbox is another one now/,
    ],
    [
      "at another place",
      { sandbox: here },
      { sandbox: { ...here, cwd: "/w" } },
      /^The working directory is another.*: \/w/s,
    ],
  ])("tells a sandbox that is %s in full, in the place of what changed with it", (_how, before, now, text) => {
    const signals = told(before, { ...now, skills: [["s", "d"]] });
    expect(signals.map(([kind]) => kind)).toEqual(["environment"]);
    expect(signals[0]?.[1]).toMatch(text);
    expect(signals[0]?.[1]).toContain("- **s** — d");
  });

  it("tells a loss of files although the sandbox is the same, and new instructions beside it", () => {
    const signals = told({ sandbox: here }, { sandbox: here, instructions: "New." }, true);
    expect(signals.map(([kind]) => kind)).toEqual(["environment", "instructions"]);
    expect(signals[0]?.[1]).toContain("its workspace is lost");
  });
});

describe("the tools of a request", () => {
  const names = (before: DurableTool[], now: DurableTool[]) =>
    inToldOrder(now, surface({ tools: now }), surface({ tools: before })).map(({ name }) => name);

  it("keep the order they were told in when an agent is only rearranged", () => {
    expect(names([tool("a"), tool("b"), tool("c")], [tool("c"), tool("a"), tool("b")])).toEqual(["a", "b", "c"]);
  });

  it("take the order of the render when one of them really is another", () => {
    expect(names([tool("a"), tool("b")], [tool("b"), tool("a", "Other.")])).toEqual(["b", "a"]);
    expect(names([tool("a"), tool("b")], [tool("b"), tool("c"), tool("a")])).toEqual(["b", "c", "a"]);
  });
});
