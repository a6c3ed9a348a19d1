/** Berth with real containers, from its start script: what a conversation makes of a machine that dies or stays. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { INTERRUPTED_RESULT } from "../../durable-objects/protocol/interrupted.ts";
import { type ScriptedBerth, startScriptedBerth } from "../e2e/scripted-berth.ts";
import { readToolResults, scriptToken, textOf } from "../model-server/script.ts";
import { type ConversationClient, openConversation } from "../wire/conversation-client.ts";
import { killSandbox, labSettings, listSandboxes, removeSandboxes } from "./lab-engine.ts";

const LOST = "workspace is lost";

describe("Berth over containers", () => {
  const others = new Set(listSandboxes());
  let scripted: ScriptedBerth;
  beforeAll(async () => {
    scripted = await startScriptedBerth({ SANDBOX: "container", ...labSettings() });
  });
  afterAll(async () => {
    const own = listSandboxes().filter((name) => !others.has(name));
    await scripted.stop();
    removeSandboxes(own);
  });

  const bash = (id: string, command: string) => ({ calls: [{ id, name: "bash", arguments: { command } }] });
  const untilCall = async (conversation: ConversationClient, id: string) => {
    const stream = await conversation.live("-1");
    await stream.until(({ chunks }) => chunks.some((chunk) => chunk.type === "tool-input" && chunk.toolCallId === id));
    stream.close();
  };
  /** The sandboxes that a step started. */
  async function startedBy(step: () => Promise<void>): Promise<string[]> {
    const before = new Set(listSandboxes());
    await step();
    return listSandboxes().filter((name) => !before.has(name));
  }

  it("gives the call in flight an unknown outcome when the container dies, and tells the model of the lost files once", async () => {
    const { berth, model } = scripted;
    model.script("die", [
      bash("d0", "echo keep > kept.txt"),
      bash("d1", "echo x >> /tmp/ran; sleep 60; echo z"),
      bash("d2", "cat kept.txt /tmp/ran; echo back"),
      { text: "ok" },
    ]);
    const conversation = openConversation(berth.baseUrl, "coder");
    let submissionId = "";
    const started = await startedBy(async () => {
      ({ submissionId } = await conversation.send(`go ${scriptToken("die")}`));
      await untilCall(conversation, "d1");
      await expect.poll(() => listSandboxes().filter((name) => !others.has(name)).length).toBe(1);
    });
    for (const name of started) killSandbox(name);
    expect(await conversation.settled(submissionId)).toEqual({ submissionId, outcome: "completed" });
    const [, , third, fourth] = model.requestsOf("die").map((request) => request.body);
    const results = readToolResults(fourth ?? { messages: [] });
    expect(results[1]?.text).toBe(INTERRUPTED_RESULT);
    expect(results[2]?.text).toContain("No such file or directory");
    expect(results[2]?.text).toContain("back");
    const losses = (body: typeof third) => body?.messages.filter((each) => textOf(each.content).includes(LOST)).length;
    expect(losses(third)).toBe(1);
    expect(losses(fourth)).toBe(1);
    expect(model.problemsOf("die")).toEqual([]);
    const { messages } = await conversation.history();
    expect(JSON.stringify(messages).split(LOST)).toHaveLength(2);
  });

  it("tells of a loss that happened while nothing ran before the next request", async () => {
    const { berth, model } = scripted;
    model.script("first", [bash("f0", "echo keep > kept.txt"), { text: "kept" }]);
    model.script("second", [bash("s0", "ls -A; echo end"), { text: "seen" }]);
    const conversation = openConversation(berth.baseUrl, "coder");
    const started = await startedBy(async () => {
      const { submissionId } = await conversation.send(`go ${scriptToken("first")}`);
      await conversation.settled(submissionId);
    });
    expect(started).toHaveLength(1);
    for (const name of started) killSandbox(name);
    await expect.poll(() => listSandboxes().filter((name) => started.includes(name))).toEqual([]);
    const { submissionId } = await conversation.send(`go on ${scriptToken("second")}`);
    expect((await conversation.settled(submissionId)).outcome).toBe("completed");
    const requests = model.requestsOf("second").map((request) => request.body.messages);
    expect(textOf(requests[0]?.at(-1)?.content)).toContain(LOST);
    expect(textOf(requests[0]?.at(-1)?.content)).toContain("Working directory: /workspace");
    expect(readToolResults({ messages: requests[1] ?? [] }).at(-1)?.text).toBe("end");
    expect(JSON.stringify(requests[1]).split(LOST)).toHaveLength(2);
  });

  it("finds a command again after a kill -9 of everything but the container", async () => {
    const { berth, model } = scripted;
    model.script("again", [bash("a0", "echo run >> runs.txt; sleep 6; cat runs.txt"), { text: "done" }]);
    const conversation = openConversation(berth.baseUrl, "coder");
    const { submissionId } = await conversation.send(`go ${scriptToken("again")}`);
    await untilCall(conversation, "a0");
    await expect.poll(() => listSandboxes().length).toBeGreaterThan(0);
    await berth.kill();
    await berth.restart();
    const { body } = await model.waitForRequest("again", 2, "answered");
    expect(readToolResults(body)[0]?.text).toBe("run");
    expect(JSON.stringify(body)).not.toContain(LOST);
    expect((await conversation.settled(submissionId)).outcome).toBe("completed");
  });
});
