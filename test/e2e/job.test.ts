/** A whole job: the coder reads a file, edits it, runs a command and answers, with a model over real HTTP. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ModelTurn, readToolResults, scriptToken, textOf } from "../model-server/script.ts";
import { openConversation, replyOf } from "../wire/conversation-client.ts";
import { type ScriptedBerth, startScriptedBerth } from "./scripted-berth.ts";

let scripted: ScriptedBerth;
beforeAll(async () => {
  scripted = await startScriptedBerth();
});
afterAll(() => scripted.stop());

function call(id: string, name: string, args: Record<string, unknown>): ModelTurn {
  return { calls: [{ id, name, arguments: args }] };
}

describe("a coder with a model", () => {
  it("reads, edits, runs and answers, and the model is shown each result once", async () => {
    const { berth, model } = scripted;
    model.script("job", [
      call("c1", "write", { path: "sum.sh", content: "echo $((1 + 1))\n" }),
      call("c2", "read", { path: "sum.sh" }),
      call("c3", "edit", { path: "sum.sh", oldText: "1 + 1", newText: "20 + 22" }),
      call("c4", "bash", { command: "bash sum.sh" }),
      { text: ["The sum is ", "42."], usage: { input: 300, output: 7 } },
    ]);
    const conversation = openConversation(berth.baseUrl, "coder");
    const { submissionId } = await conversation.send(`Fix the sum. ${scriptToken("job")}`);
    expect((await conversation.settled(submissionId)).outcome).toBe("completed");

    const { messages } = await conversation.history();
    expect(replyOf(messages, submissionId)).toBe("The sum is 42.");
    const requests = model.requestsOf("job");
    expect(requests).toHaveLength(5);
    const results = readToolResults(requests.at(-1)?.body ?? { messages: [] });
    expect(results.map((result) => result.id)).toHaveLength(4);
    expect(results[1]?.text).toContain("1 + 1");
    expect(results[3]?.text).toContain("42");
    expect(model.problemsOf("job")).toEqual([]);
  });

  it("runs the calls of one batch and keeps their results in call order", async () => {
    const { berth, model } = scripted;
    const calls = [
      { id: "slow", name: "bash", arguments: { command: "sleep 0.3; echo slow" } },
      { id: "fast", name: "bash", arguments: { command: "echo fast" } },
      { id: "bad", name: "no_such_tool", arguments: {} },
    ];
    model.script("batch", [{ text: "Working.", calls }, { text: "done" }]);
    const conversation = openConversation(berth.baseUrl, "coder");
    const { submissionId } = await conversation.send(`go ${scriptToken("batch")}`);
    expect((await conversation.settled(submissionId)).outcome).toBe("completed");
    const results = readToolResults(model.requestsOf("batch").at(-1)?.body ?? { messages: [] });
    expect(results).toHaveLength(3);
    expect(results[0]?.text).toContain("slow");
    expect(results[1]?.text).toContain("fast");
    expect(results[2]?.text).toContain("no_such_tool");
    expect(model.problemsOf("batch")).toEqual([]);
  });

  it("shows the model the same prompt at every request, and the earlier messages in order", async () => {
    const { berth, model } = scripted;
    model.script("memory", [{ text: "one" }, { text: "two" }]);
    const conversation = openConversation(berth.baseUrl, "coder");
    await conversation.settled((await conversation.send(`first ${scriptToken("memory")}`)).submissionId);
    await conversation.settled((await conversation.send(`second ${scriptToken("memory")}`)).submissionId);
    const [first, second] = model.requestsOf("memory").map((request) => request.body);
    expect(second?.messages[0]).toEqual(first?.messages[0]);
    expect(second?.tools).toEqual(first?.tools);
    const talk = second?.messages
      .slice(1)
      .map((message) => `${message.role}: ${textOf(message.content).split(" ")[0]}`);
    expect(talk).toEqual(["user: first", "assistant: one", "user: second"]);
  });

  it("fails a submission whose provider refuses for good, with a message that holds no key", async () => {
    const { berth, model } = scripted;
    model.script("refused", [{ fault: { kind: "http", status: 401, body: { error: { message: "bad key" } } } }]);
    const conversation = openConversation(berth.baseUrl, "assistant");
    const { submissionId } = await conversation.send(`go ${scriptToken("refused")}`);
    const settlement = await conversation.settled(submissionId);
    expect(settlement).toMatchObject({ outcome: "failed", error: { type: "provider_failed", meta: { status: 401 } } });
    expect(JSON.stringify(await conversation.history())).not.toContain("sk-no-secret");
    expect(model.requestsOf("refused")).toHaveLength(1);
  });
});
