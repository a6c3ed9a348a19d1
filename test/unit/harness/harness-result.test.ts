/** Structured results of harness.prompt. Source: contract RUNTIME 4 ("Harness"), TOOLS 1. */
import type { Message } from "@earendil-works/pi-ai";
import { describe, expect, it } from "vitest";
import { type Harness, Type } from "../../../durable-objects/agent/index.ts";
import type { ScriptedCall } from "../../../durable-objects/models/scripted-stream.ts";
import { MAX_RESULT_REMINDERS } from "../../../durable-objects/protocol/limits.ts";
import { isRecordOf } from "../../../durable-objects/protocol/records.ts";
import { faultOf, harnessed, resultOf, THREAD, textsOf } from "../fixtures/harnessed.ts";

const VERDICT = Type.Object({ urgent: Type.Boolean(), reason: Type.String() });
const finish = (args: object, id = "call_finish"): ScriptedCall => ({ id, name: "finish", arguments: { ...args } });
const ask = (harness: Harness) => faultOf(harness.prompt("Urgent?", { result: VERDICT }));

describe("harness.prompt with a result", () => {
  it("gives the data that finish was called with, and ends with that call", async () => {
    const data = { urgent: true, reason: "fire" };
    const conversation = harnessed(
      (harness) => harness.prompt("Urgent?", { result: VERDICT }),
      [{ calls: [finish(data)] }],
    );
    await conversation.send("go");
    const answer = JSON.parse(resultOf(conversation).text);
    expect(answer).toMatchObject({ data, usage: { totalTokens: expect.any(Number) }, model: { provider: "scripted" } });
    expect(answer).not.toHaveProperty("text");
    expect(conversation.records(THREAD).filter((record) => isRecordOf(record, "assistant"))).toHaveLength(1);
  });

  it("wraps a schema that is no object in the parameter result", async () => {
    const result = Type.Array(Type.String());
    const conversation = harnessed(
      async (harness) => (await harness.prompt("x", { result })).data,
      [{ calls: [finish({ result: ["a", "b"] })] }],
    );
    await conversation.send("go");
    expect(resultOf(conversation).text).toBe('["a","b"]');
  });

  it("offers finish and give_up behind all other tools, to this prompt alone", async () => {
    const lists: (string[] | undefined)[] = [];
    const conversation = harnessed(
      async (harness) => {
        await harness.prompt("x", { result: VERDICT });
        await harness.prompt("y");
      },
      [{ calls: [finish({ urgent: false, reason: "" })] }, { text: "ok" }],
      {
        wrapModel: ({ model, stream }) => ({
          model,
          stream(used, context, options) {
            const [system] = context.messages;
            lists.push(system?.role === "system" ? system.toolsAdded?.map(({ name }) => name) : undefined);
            return stream(used, context, options);
          },
        }),
      },
    );
    await conversation.send("go");
    expect(lists).toEqual([
      ["task", "ask"],
      ["task", "ask", "finish", "give_up"],
      ["task", "ask"],
      ["task", "ask"],
    ]);
  });

  it("has arguments that do not fit corrected by the model", async () => {
    const conversation = harnessed(
      async (harness) => (await harness.prompt("x", { result: VERDICT })).data,
      [
        { calls: [finish({ urgent: "perhaps" }, "call_1")] },
        { calls: [finish({ urgent: true, reason: "r" }, "call_2")] },
      ],
    );
    await conversation.send("go");
    expect(resultOf(conversation, "call_1", THREAD)).toMatchObject({
      isError: true,
      text: expect.stringContaining('Validation failed for tool "finish"'),
    });
    expect(JSON.parse(resultOf(conversation).text)).toEqual({ urgent: true, reason: "r" });
  });

  it("asks a model that stops without a result again", async () => {
    let last: Message | undefined;
    const conversation = harnessed(ask, [
      { text: "It is urgent." },
      (messages) => {
        last = messages.at(-1);
        return { calls: [finish({ urgent: true, reason: "r" })] };
      },
    ]);
    await conversation.send("go");
    expect(resultOf(conversation).text).toBe('"no fault"');
    expect(textsOf(last ? [last] : [])).toEqual([expect.stringMatching(/^user: Call finish/)]);
  });

  it("is result_unavailable when the model never calls finish, after a fixed number of reminders", async () => {
    const turns = Array.from({ length: MAX_RESULT_REMINDERS + 1 }, () => ({ text: "Hm." }));
    const conversation = harnessed(ask, turns);
    const { settlement } = await conversation.send("go");
    expect(settlement.outcome).toBe("completed");
    expect(JSON.parse(resultOf(conversation).text)).toMatchObject({ type: "result_unavailable" });
  });

  it("is result_unavailable, with the reason, when the model gives up", async () => {
    const giveUp = { id: "call_2", name: "give_up", arguments: { reason: "no facts" } };
    const conversation = harnessed(ask, [{ calls: [giveUp] }]);
    await conversation.send("go");
    expect(JSON.parse(resultOf(conversation).text)).toEqual({
      type: "result_unavailable",
      message: "The model gave up: no facts",
    });
  });

  it("stands although another call of the same batch goes on, and a later finish replaces it", async () => {
    const other = { id: "call_3", name: "none", arguments: {} };
    const conversation = harnessed(
      async (harness) => (await harness.prompt("x", { result: VERDICT })).data,
      [
        { calls: [finish({ urgent: true, reason: "first" }, "call_1"), other] },
        { calls: [finish({ urgent: true, reason: "second" }, "call_2")] },
      ],
    );
    await conversation.send("go");
    expect(JSON.parse(resultOf(conversation).text)).toMatchObject({ reason: "second" });
  });
});
