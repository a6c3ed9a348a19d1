/** A wait that a provider asked for, across a loss of power; in both protocols. Source: contract RUNTIME 2.7, 9. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ModelTurn } from "../model-server/script.ts";
import { scriptToken } from "../model-server/script.ts";
import { freshId, openConversation, replyOf } from "../wire/conversation-client.ts";
import { type ScriptedBerth, startScriptedBerth } from "./scripted-berth.ts";

const SECOND_MS = 1_000;

/** Of the seven seconds a few may go to a busy machine. */
const WITHIN = { timeout: 5 * SECOND_MS, interval: 20 };

const LATER: ModelTurn = { fault: { kind: "http", status: 429, headers: { "retry-after": "7" } } };

function isPostponed(log: string, submissionId: string): boolean {
  return log.split("\n").some((line) => line.includes("submission_postponed") && line.includes(submissionId));
}

describe.each(["openai-compatible/scripted", "anthropic/claude-x"])("with %s", (spec) => {
  let scripted: ScriptedBerth;
  beforeAll(async () => {
    scripted = await startScriptedBerth({ BERTH_MODEL: spec });
  });
  afterAll(() => scripted.stop());

  it("provider-03: the wait is kept when everything is killed in the middle of it, with nobody calling", async () => {
    const { berth, model } = scripted;
    const key = freshId();
    model.script(key, [LATER, { text: "ok" }]);
    const conversation = openConversation(berth.baseUrl, "assistant", key);
    const { submissionId } = await conversation.send(`a ${scriptToken(key)}`);
    const first = await model.waitForRequest(key, 1, "answered");
    // Answered is not yet heard of: only a wait that is stored can outlive the loss. What the conversation answers from
    // then on, it answers when everything before is on disk.
    await expect.poll(() => isPostponed(berth.log, submissionId), WITHIN).toBe(true);
    expect((await conversation.call("GET", `/submissions/${submissionId}`)).status).toBe(200);
    await berth.kill();
    await berth.restart();
    // Only the model server is watched: no request of ours wakes the conversation.
    const second = await model.waitForRequest(key, 2, "answered");
    expect(second.at - first.at).toBeGreaterThanOrEqual(7 * SECOND_MS);
    expect((await conversation.settled(submissionId)).outcome).toBe("completed");
    expect(replyOf((await conversation.history()).messages, submissionId)).toBe("ok");
    expect(model.requestsOf(key)).toHaveLength(2);
    expect(model.problemsOf(key)).toEqual([]);
  });

  it("provider-03: seconds and a date are both waited for", async () => {
    const { berth, model } = scripted;
    const key = freshId();
    model.script(key, (request) => {
      const tries = model.requestsOf(key).length;
      const wait = tries === 1 ? "2" : new Date(request.at + 5 * SECOND_MS).toUTCString();
      return tries > 2 ? { text: "ok" } : { fault: { kind: "http", status: 429, headers: { "retry-after": wait } } };
    });
    const conversation = openConversation(berth.baseUrl, "assistant", key);
    const { submissionId } = await conversation.send(`a ${scriptToken(key)}`);
    expect((await conversation.settled(submissionId)).outcome).toBe("completed");
    const [first = 0, second = 0, third = 0] = model.requestsOf(key).map(({ at }) => at);
    expect(second - first).toBeGreaterThanOrEqual(2 * SECOND_MS);
    expect(third - second).toBeGreaterThanOrEqual(5 * SECOND_MS);
  });

  it("provider-05: an abort in the pause settles at once, and nothing more is asked", async () => {
    const { berth, model } = scripted;
    const key = freshId();
    model.script(key, () => ({ fault: { kind: "http", status: 529 } }));
    const conversation = openConversation(berth.baseUrl, "assistant", key);
    const { submissionId } = await conversation.send(`a ${scriptToken(key)}`);
    await model.waitForRequest(key, 2, "answered");
    const began = Date.now();
    expect(await conversation.abort()).toEqual({ aborted: true });
    expect((await conversation.settled(submissionId)).outcome).toBe("aborted");
    expect(Date.now() - began).toBeLessThan(3 * SECOND_MS);
    const asked = model.requestsOf(key).length;
    // A second conversation waits longer than the pause would have lasted.
    const other = freshId();
    model.script(other, [LATER, { text: "ok" }]);
    const second = openConversation(berth.baseUrl, "assistant", other);
    await second.settled((await second.send(`b ${scriptToken(other)}`)).submissionId);
    expect(model.requestsOf(key)).toHaveLength(asked);
  });
});
