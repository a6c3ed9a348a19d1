/**
 * What a tool's `run` is given follows from what the tool declares, for the compiler too: each `@ts-expect-error` below is
 * an error of `npm run check:types` when the rule is gone. Source: contract RUNTIME 4.
 */
import { describe, expect, expectTypeOf, it } from "vitest";
import type { CallHandle, Harness, PromptResponse, ToolSteps } from "../../durable-objects/agent/index.ts";
import { defineTool, Type, useTool } from "../../durable-objects/agent/index.ts";

const NAMED = { name: "t", description: "d" };

describe("a tool's run, for the compiler", () => {
  it("has data, typed, only with input", () => {
    defineTool({
      ...NAMED,
      input: Type.Object({ n: Type.Number() }),
      run({ data }) {
        expectTypeOf(data.n).toEqualTypeOf<number>();
        // @ts-expect-error the schema has no such field
        void data.m;
      },
    });
    // @ts-expect-error no input, no data
    defineTool({ ...NAMED, run: ({ data }) => void data });
  });

  it("has harness only with harness: true", () => {
    defineTool({ ...NAMED, harness: true, run: ({ harness }) => expectTypeOf(harness).toEqualTypeOf<Harness>() && "" });
    // @ts-expect-error not declared
    defineTool({ ...NAMED, run: ({ harness }) => void harness });
    // @ts-expect-error declared away
    defineTool({ ...NAMED, harness: false, run: ({ harness }) => void harness });
  });

  it("has step only with durable: true", () => {
    defineTool({ ...NAMED, durable: true, run: ({ step }) => expectTypeOf(step).toEqualTypeOf<ToolSteps>() && "" });
    // @ts-expect-error not declared
    defineTool({ ...NAMED, run: ({ step }) => void step });
  });

  it("has them all together, and the same in useTool and in a list", () => {
    const all = {
      ...NAMED,
      input: Type.Object({ n: Type.Number() }),
      harness: true,
      durable: true,
    } as const;
    const mount = () =>
      useTool({ ...all, run: ({ data, harness, step }) => step.do("s", () => `${data.n}${harness.name}`) });
    const mountLess = () => {
      // @ts-expect-error useTool holds to the same rule
      useTool({ ...NAMED, run: ({ harness }) => void harness });
    };
    const ask = (harness: Harness) =>
      harness.prompt("x", {
        tools: [defineTool({ ...all, run: ({ data, step }) => step.do("s", () => `${data.n}`) })],
      });
    expect([mount, mountLess, ask].every((work) => typeof work === "function")).toBe(true);
  });
});

describe("harness.prompt, for the compiler", () => {
  it("gives data of the schema's type with result, else text", () => {
    const withResult = (harness: Harness) => harness.prompt("x", { result: Type.Object({ ok: Type.Boolean() }) });
    const withList = (harness: Harness) => harness.prompt("x", { result: Type.Array(Type.String()) });
    const withText = (harness: Harness) => harness.prompt("x", { thinkingLevel: "low" });
    expectTypeOf<Awaited<ReturnType<typeof withResult>>["data"]>().toEqualTypeOf<{ ok: boolean }>();
    expectTypeOf<Awaited<ReturnType<typeof withList>>["data"]>().toEqualTypeOf<string[]>();
    expectTypeOf<ReturnType<typeof withText>>().toEqualTypeOf<CallHandle<PromptResponse>>();
    const wrong = (harness: Harness) => {
      // @ts-expect-error an option nobody knows
      harness.prompt("x", { colour: "red" });
      // @ts-expect-error without result there is no data
      return harness.prompt("x").then(({ data }) => data);
    };
    expect(typeof wrong).toBe("function");
  });
});
