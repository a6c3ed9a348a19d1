/** The machine loses power in the middle of work; nobody calls; the work is finished all the same, once. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readToolResults, scriptToken } from "../model-server/script.ts";
import { BerthProcess } from "../processes/berth-process.ts";
import { openConversation, replyOf } from "../wire/conversation-client.ts";
import { type ScriptedBerth, startScriptedBerth } from "./scripted-berth.ts";

describe("a kill -9 of the whole process tree", () => {
  let berth: BerthProcess;
  beforeAll(async () => {
    berth = await BerthProcess.start();
  });
  afterAll(() => berth.stop());

  it("in the middle of a command costs nothing: the submission settles once, its files are there", async () => {
    const conversation = openConversation(berth.baseUrl, "coder");
    const { submissionId } = await conversation.send("/write hello.txt hi\n/bash sleep 3; echo done\n/read hello.txt");
    const stream = await conversation.live("-1");
    await stream.until(({ chunks }) =>
      chunks.some((chunk) => chunk.type === "tool-input" && chunk.toolName === "bash"),
    );
    stream.close();
    await berth.kill();
    await berth.restart();
    expect((await conversation.settled(submissionId)).outcome).toBe("completed");
    const { messages, settlements } = await conversation.history();
    expect(settlements).toHaveLength(1);
    const tools = messages.flatMap((message) => message.parts.filter((part) => part.type === "dynamic-tool"));
    expect(tools).toMatchObject([
      { toolName: "write", state: "output-available" },
      { toolName: "bash", state: "output-available" },
      { toolName: "read", state: "output-available" },
    ]);
    expect(JSON.stringify(tools[1])).toContain("done");
    expect(JSON.stringify(tools[2])).toContain("hi");
  });

  it("loses no message that was admitted, and keeps their order", async () => {
    const conversation = openConversation(berth.baseUrl, "coder");
    const texts = ["/bash sleep 2; echo a", "/bash echo b", "/bash echo c"];
    const sent: string[] = [];
    for (const text of texts) sent.push((await conversation.send(text)).submissionId);
    await berth.kill();
    await berth.restart();
    for (const id of sent) expect((await conversation.settled(id)).outcome).toBe("completed");
    const { settlements } = await conversation.history();
    expect(settlements.map((settlement) => settlement.submissionId)).toEqual(sent);
  });
});

describe("a restart with nobody calling", () => {
  let scripted: ScriptedBerth;
  beforeAll(async () => {
    scripted = await startScriptedBerth();
  });
  afterAll(() => scripted.stop());

  it("finishes the command that was cut, and goes on from its result", async () => {
    const { berth, model } = scripted;
    model.script("cut", [
      { calls: [{ id: "c1", name: "write", arguments: { path: "hello.txt", content: "hi" } }] },
      { calls: [{ id: "c2", name: "bash", arguments: { command: "sleep 3; cat hello.txt; echo done" } }] },
      { text: "finished" },
    ]);
    const conversation = openConversation(berth.baseUrl, "coder");
    const { submissionId } = await conversation.send(`go ${scriptToken("cut")}`);
    const stream = await conversation.live("-1");
    await stream.until(({ chunks }) =>
      chunks.some((chunk) => chunk.type === "tool-input" && chunk.toolName === "bash"),
    );
    stream.close();
    await berth.kill();
    await berth.restart();
    // Only the model server is watched: no request of ours wakes the conversation.
    const resumed = await model.waitForRequest("cut", 3, "answered");
    const results = readToolResults(resumed.body);
    expect(results).toHaveLength(2);
    expect(results[1]?.text).toMatch(/hi\s*done/);
    expect(await conversation.settled(submissionId)).toEqual({ submissionId, outcome: "completed" });
    expect(model.requestsOf("cut")).toHaveLength(3);
    expect(model.problemsOf("cut")).toEqual([]);
  });

  it("takes the work up by itself, and the model is asked again for the step it never gave", async () => {
    const { berth, model } = scripted;
    const calls = [{ id: "c1", name: "write", arguments: { path: "a.txt", content: "kept" } }];
    model.script("power", [
      { calls },
      { text: "half of it", fault: { kind: "hang", after: "text" } },
      { text: "whole" },
    ]);
    const conversation = openConversation(berth.baseUrl, "coder");
    const { submissionId } = await conversation.send(`go ${scriptToken("power")}`);
    const stream = await conversation.live("-1");
    await stream.until(({ chunks }) => chunks.some((chunk) => chunk.type === "message-delta"));
    stream.close();
    await berth.kill();
    await berth.restart();
    await model.waitForRequest("power", 3, "answered");
    expect(model.problemsOf("power")).toEqual([]);
    expect((await conversation.settled(submissionId)).outcome).toBe("completed");
    const { messages } = await conversation.history();
    expect(replyOf(messages, submissionId)).toContain("whole");
    const writes = messages.flatMap((message) => message.parts.filter((part) => part.type === "dynamic-tool"));
    expect(writes).toHaveLength(1);
  });
});
