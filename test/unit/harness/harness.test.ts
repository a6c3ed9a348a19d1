/** The harness of a tool. Source: contract RUNTIME 4 ("Harness", "Programmatic shell"), 7 (depth), TOOLS 14.4. */
import type { Message } from "@earendil-works/pi-ai";
import { describe, expect, it } from "vitest";
import type { Harness } from "../../../durable-objects/agent/index.ts";
import { defineTool, Type, useTool } from "../../../durable-objects/agent/index.ts";
import { ROOT_THREAD } from "../../../durable-objects/protocol/records.ts";
import { faultOf, harnessed, resultOf, THREAD, textsOf } from "../fixtures/harnessed.ts";

describe("harness.prompt", () => {
  it("answers from a scratch conversation that clients never see", async () => {
    const conversation = harnessed((harness) => harness.prompt("Which colour?"), [{ text: "blue" }]);
    const { settlement, message } = await conversation.send("go");
    expect(settlement.outcome).toBe("completed");
    const answer = JSON.parse(resultOf(conversation).text);
    expect(answer).toMatchObject({ text: "blue", model: { provider: "scripted", id: conversation.spec.slice(9) } });
    expect(answer.usage.totalTokens).toBeGreaterThan(0);
    expect(JSON.stringify(message)).not.toContain("Which colour");
    expect(conversation.threads()).toEqual([ROOT_THREAD, THREAD]);
    expect(conversation.records(THREAD).map((record) => record.body.type)).toEqual(["input", "assistant"]);
  });

  it("sends the agent's own prompt and tools byte for byte, and nothing of the root's history", async () => {
    const requests: string[][] = [];
    const heads: string[] = [];
    const conversation = harnessed((harness) => harness.prompt("Which colour?"), [{ text: "blue" }], {
      wrapModel: ({ model, stream }) => ({
        model,
        stream(used, context, options) {
          heads.push(JSON.stringify(context.messages[0]));
          requests.push(textsOf(context.messages.slice(1)));
          return stream(used, context, options);
        },
      }),
    });
    await conversation.send("go");
    expect(requests[1]).toEqual(["user: Which colour?"]);
    expect(heads[0]).toContain("## Available Tools");
    expect(new Set(heads).size).toBe(1);
  });

  it("offers the tools in the order the root was given them, however the render orders them now", async () => {
    const lists: unknown[] = [];
    let isTurned = false;
    const conversation = harnessed(() => "", [{ text: "blue" }], {
      body() {
        const ask = () =>
          useTool({
            ...{ name: "ask", description: "Ask.", harness: true as const },
            async run({ harness }) {
              isTurned = true;
              return (await harness.prompt("x")).text;
            },
          });
        const other = () => useTool({ name: "other", description: "Other.", run: () => "" });
        for (const mount of isTurned ? [other, ask] : [ask, other]) mount();
      },
      wrapModel: ({ model, stream }) => ({
        model,
        stream(used, context, options) {
          const [system] = context.messages;
          lists.push(system?.role === "system" ? system.toolsAdded?.map(({ name }) => name) : undefined);
          return stream(used, context, options);
        },
      }),
    });
    await conversation.send("go");
    expect(lists).toEqual([1, 2, 3].map(() => ["task", "ask", "other"]));
  });

  it("goes on from prompt to prompt of one harness", async () => {
    const seen: string[][] = [];
    const look = (messages: readonly Message[]) => {
      seen.push(textsOf(messages.slice(1)));
      return { text: "green" };
    };
    const conversation = harnessed(
      async (harness) => {
        await harness.prompt("first");
        return (await harness.prompt("second")).text;
      },
      [{ text: "blue" }, look],
    );
    await conversation.send("go");
    expect(seen).toEqual([["user: first", "assistant: blue", "user: second"]]);
  });

  it("counts the steps of all its threads into the submission's usage, and its own into the answer's", async () => {
    const conversation = harnessed(
      (harness) => harness.prompt("x"),
      [
        { text: "one", calls: [{ id: "c2", name: "none", arguments: {} }], inputTokens: 1000 },
        { text: "two", inputTokens: 2000 },
      ],
    );
    const id = conversation.post("go");
    await conversation.engine.waitSettled(id, 5000);
    expect(JSON.parse(resultOf(conversation).text).usage.input).toBe(3000);
    expect(conversation.engine.readSubmission(id).usage?.input).toBeGreaterThan(3000);
    expect(conversation.engine.readSubmission(id).usage?.input).toBeLessThan(4000);
  });

  it("gives the tool's result once and shows readers the root alone", async () => {
    const conversation = harnessed((harness) => harness.prompt("secret words"), [{ text: "hidden answer" }]);
    await conversation.send("go");
    const history = await new Response((await conversation.engine.stream.readHistory()).body).text();
    const updates = await conversation.engine.stream.readUpdates({ after: 0, live: "none" });
    const chunks = await new Response(updates.body).text();
    const page = await new Response(conversation.engine.stream.readHistoryPage({ limit: 50 }).body).text();
    for (const text of [history, chunks, page]) expect(text).not.toContain("secret words");
    expect(updates.upToDate).toBe(true);
  });

  it("shows images to the model, named in the text", async () => {
    let shown: Message | undefined;
    const look = (messages: readonly Message[]) => {
      shown = messages.at(-1);
      return { text: "a cat" };
    };
    const image = { type: "image" as const, data: "AAEC", mimeType: "image/png" };
    const conversation = harnessed((harness) => harness.prompt("What is it?", { images: [image] }), [look]);
    await conversation.send("go");
    expect(shown?.content).toEqual([
      { type: "text", text: expect.stringContaining("<image id=") },
      expect.objectContaining(image),
    ]);
  });

  it("takes another model and more tools for one prompt", async () => {
    const double = defineTool({
      name: "double",
      description: "Double a number.",
      input: Type.Object({ n: Type.Number() }),
      run: ({ data }) => ({ output: data.n * 2 }),
    });
    const other: unknown[] = [];
    const conversation = harnessed(
      async (harness) => {
        other.push((await harness.prompt("hello", { model: "scripted/demo" })).model);
        return (await harness.prompt("double 4", { tools: [double] })).text;
      },
      [
        { calls: [{ id: "d1", name: "double", arguments: { n: 4 } }] },
        (messages) => ({ text: textsOf(messages.slice(-1)).join() }),
      ],
    );
    await conversation.send("go");
    expect(resultOf(conversation).text).toBe('"toolResult: 8"');
    expect(other).toEqual([{ provider: "scripted", id: "demo" }]);
  });

  it.each<[string, object, string]>([
    [
      "an unknown field",
      { colour: 1 },
      'Tool "ask" misused harness.prompt(): options received unknown field "colour".',
    ],
    ["a level that is none", { thinkingLevel: "deep" }, "options.thinkingLevel must be one of off,"],
    ["an image without data", { images: [{ type: "image" }] }, "options.images must be a list of"],
    ["a tool that is none", { tools: [{ name: "x" }] }, "description must be a non-empty string."],
    ["a signal that is none", { signal: 1 }, "options.signal must be an AbortSignal."],
    ["a name of the framework's", { tools: [{ name: "finish", description: "d", run() {} }] }, "is reserved by"],
    ["a name of the agent's", { tools: [{ name: "ask", description: "d", run() {} }] }, 'Duplicate tool name "ask".'],
  ])("refuses %s and records nothing of the prompt", async (_what, options, text) => {
    const conversation = harnessed((harness) => harness.prompt("x", options), []);
    await conversation.send("go");
    expect(resultOf(conversation)).toMatchObject({ isError: true, text: expect.stringContaining(text) });
    expect(conversation.threads()).toEqual([ROOT_THREAD]);
  });

  it("runs one operation at a time", async () => {
    const gate = Promise.withResolvers<void>();
    const conversation = harnessed(
      async (harness) => {
        const first = harness.prompt("one");
        const faults = [await faultOf(harness.prompt("two")), await faultOf(harness.shell("true"))];
        gate.resolve();
        return [await first, faults];
      },
      [{ text: "first", gate: gate.promise }],
      { sandbox: true },
    );
    await conversation.send("go");
    const [first, faults] = JSON.parse(resultOf(conversation).text);
    expect(first.text).toBe("first");
    expect(faults).toMatchObject([{ type: "session_busy" }, { type: "session_busy" }]);
  });

  it("is over with its call: what was let go is aborted, what is kept throws", async () => {
    const kept: Harness[] = [];
    const left: Promise<unknown>[] = [];
    const conversation = harnessed(
      (harness) => {
        kept.push(harness);
        left.push(faultOf(harness.prompt("let go")));
        // Nobody hears this one at all: it must not end up as an unhandled rejection, which fails the whole run.
        void harness.shell("true");
        return "ended";
      },
      [{ text: "never heard", gate: new Promise(() => {}) }],
    );
    await conversation.send("go");
    expect(await left[0]).toMatchObject({ name: "AbortError" });
    const [harness] = kept;
    expect(() => harness?.prompt("again")).toThrow(/Tool "ask" used its harness after its call had ended/);
    expect(() => harness?.sandbox).toThrow(/after its call had ended/);
    expect(() => harness?.shell("true")).toThrow(/after its call had ended/);
  });
});
