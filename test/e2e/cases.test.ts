/**
 * Faults that people reported of tools that do this job, as inputs against this one. The number is the report's case.
 *
 * Cases that other tests hold already:
 *
 * queue-01   test/sim: a provider (scripted-model.ts) and a `createSandbox` (simulated-agent.ts) whose promise never
 *            settles; no wire can bring that about
 * http-01    test/unit/door-admit, "a body that is no JSON", "a body of a wrong shape"; test/conformance/admission,
 *            "for %s leaves nothing behind", "for %s gets the code of its own"
 * http-05    test/unit/door-auth, "refuses %j on every route", "lets %j in", "writes no token into a log or an answer",
 *            "serves nobody when BERTH_TOKENS is %s"
 */
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { WireChunk, WireMessage } from "../../durable-objects/protocol/wire.ts";
import { type ModelTurn, readToolResults, type ScriptedCall, scriptToken, textOf } from "../model-server/script.ts";
import { freshId, openConversation, replyOf } from "../wire/conversation-client.ts";
import { foldChunks } from "../wire/fold-chunks.ts";
import { type ScriptedBerth, startScriptedBerth } from "./scripted-berth.ts";

const ABORT_WITHIN_MS = 5_000;
const LONGEST_GAP_MS = 30_000;
const LONG_TEST_MS = 120_000;
const HANG: ModelTurn = { fault: { kind: "hang", after: "request" } };

let scripted: ScriptedBerth;
beforeAll(async () => {
  scripted = await startScriptedBerth();
});
afterAll(() => scripted.stop());

/** A fresh conversation whose model says these turns, with its first message sent. */
async function begin(turns: readonly ModelTurn[], agent = "assistant", text = "a") {
  const { berth, model } = scripted;
  const key = freshId();
  model.script(key, turns);
  const conversation = openConversation(berth.baseUrl, agent, key);
  const message = `${text} ${scriptToken(key)}`;
  const first = await conversation.send(message);
  return { key, model, conversation, message, first, submissionId: first.submissionId };
}

async function evict(): Promise<void> {
  await scripted.berth.kill();
  await scripted.berth.restart();
}

const bash = (id: string, command: string): ScriptedCall => ({ id, name: "bash", arguments: { command } });

function toolsOf(messages: readonly WireMessage[]) {
  return messages.flatMap(({ parts }) => parts.filter((part) => part.type === "dynamic-tool"));
}

function textsOf({ parts }: WireMessage): string[] {
  return parts.flatMap((part) => (part.type === "text" && "text" in part ? [part.text] : []));
}

function isSettled(chunks: readonly WireChunk[]): boolean {
  return chunks.some(({ type }) => type === "submission-settled");
}

function spoken(chunks: readonly WireChunk[], submissionId: string): string {
  return replyOf(foldChunks(chunks).messages, submissionId);
}

const withoutTurns = (messages: readonly WireMessage[]) => messages.map(({ turnId: _, ...message }) => message);

/** All but checkpoints, which have no place of their own. */
const placed = (chunks: readonly WireChunk[]) => chunks.filter((chunk) => chunk.type !== "stream-checkpoint");

/**
 * Sends a second message so long behind the end of the reply to the first, or before it: both end, each once, and the
 * model is shown the second once, behind the first. Gives whether it joined the response to the first.
 */
async function sendAroundTheEnd(shiftMs: number): Promise<boolean> {
  const gate = Promise.withResolvers<void>();
  const turns = [{ text: ["first", { gate: gate.promise }] }, { text: "second" }];
  const { key, model, conversation, submissionId, message } = await begin(turns);
  await model.waitForRequest(key, 1);
  setTimeout(gate.resolve, Math.max(0, -shiftMs));
  await sleep(Math.max(0, shiftMs));
  const second = await conversation.send("b");
  const ids = [submissionId, second.submissionId];
  for (const id of ids) expect((await conversation.settled(id)).outcome).toBe("completed");
  const shown = model.requestsOf(key).map(({ body }) => body.messages.filter(({ role }) => role === "user"));
  expect(shown.map((users) => users.map(({ content }) => textOf(content)))).toEqual([[message], [message, "b"]]);
  expect(model.problemsOf(key)).toEqual([]);
  const { messages, settlements } = await conversation.history();
  expect(settlements.map((settlement) => settlement.submissionId)).toEqual(ids);
  expect(messages.flatMap(textsOf)).toEqual(expect.arrayContaining([message, "first", "b", "second"]));
  return settlements[1]?.answeredBySubmissionId !== undefined;
}

describe("an eviction", () => {
  it("queue-05: behind a recorded tool result neither loses the result nor repeats the call", async () => {
    const write = { calls: [bash("c1", "echo 1 >> ledger; echo res-1")] };
    const count = { calls: [bash("c2", "wc -l < ledger")] };
    const turns = [write, HANG, { text: "end" }, count, { text: "counted" }];
    const { key, model, conversation, submissionId } = await begin(turns, "coder");
    await model.waitForRequest(key, 2);
    await evict();
    const third = await model.waitForRequest(key, 3, "answered");
    expect(readToolResults(third.body)).toEqual([{ id: "c1", text: expect.stringContaining("res-1") }]);
    await conversation.settled(submissionId);
    expect((await conversation.history()).settlements).toEqual([{ submissionId, outcome: "completed" }]);
    await conversation.settled((await conversation.send("count")).submissionId);
    expect(readToolResults((await model.waitForRequest(key, 5)).body)[1]?.text.trim()).toBe("1");
    expect(model.problemsOf(key)).toEqual([]);
  });

  it("queue-07: while the first model request is open leaves work that goes on with nobody calling", async () => {
    const { key, model, conversation, submissionId } = await begin([HANG, { text: "ok" }]);
    await model.waitForRequest(key, 1);
    await evict();
    // Only the model server is watched: no request of ours wakes the conversation.
    await model.waitForRequest(key, 2, "answered");
    expect((await conversation.settled(submissionId)).outcome).toBe("completed");
    expect(model.requestsOf(key)).toHaveLength(2);
  });

  it("stream-03: in the middle of a message gives its reader the rest of it, and leaves nothing streaming", async () => {
    const half: ModelTurn = { text: "half ", fault: { kind: "hang", after: "text" } };
    const { key, model, conversation, first, submissionId } = await begin([half, { text: "whole" }]);
    const before = await conversation.live("-1");
    await before.until(({ chunks }) => spoken(chunks, submissionId) === "half ");
    await before.until(({ frames }) => frames.at(-1)?.event === "control");
    before.close();
    await evict();
    const after = await conversation.live(before.offset() ?? first.offset);
    await after.until(({ chunks }) => isSettled(chunks));
    after.close();
    const { messages, settlements } = await conversation.history();
    expect(settlements).toEqual([{ submissionId, outcome: "completed" }]);
    const folded = foldChunks([...before.chunks, ...after.chunks]);
    expect(withoutTurns(folded.messages)).toEqual(withoutTurns(messages));
    expect(folded.settlements).toEqual(settlements);
    // RUNTIME 2.5: the model goes on from its partial answer, which stays a part of its own.
    expect(messages.filter(({ role }) => role === "assistant").map(({ parts }) => parts)).toEqual([
      ["half ", "whole"].map((text) => ({ type: "text", text, state: "done" })),
    ]);
    const { body } = await model.waitForRequest(key, 2);
    expect(body.messages.find(({ role }) => role === "assistant")).toMatchObject({ content: "half " });
    expect(model.problemsOf(key)).toEqual([]);
  });

  it("http-03: of a conversation with a message of 3 MB and an answer of 2.5 MB costs neither a character", async () => {
    const turns = [{ text: "y".repeat(2_500_000) }, { text: "ok" }];
    const { key, model, conversation, message, submissionId } = await begin(turns, "assistant", "x".repeat(3_000_000));
    expect((await conversation.settled(submissionId)).outcome).toBe("completed");
    await evict();
    const second = await conversation.send("b");
    expect((await conversation.settled(second.submissionId)).outcome).toBe("completed");
    const { body } = await model.waitForRequest(key, 2);
    const shown = body.messages.filter(({ role }) => role !== "system").map(({ content }) => textOf(content));
    const kept = (await conversation.history()).messages.map((entry) => textsOf(entry).join(""));
    const all = [message, turns[0]?.text, "b", "ok"];
    // Compared here: a difference of megabytes is no message anybody reads.
    expect(all.map((text, n) => text === kept[n])).toEqual([true, true, true, true]);
    expect(all.map((text, n) => text === shown[n])).toEqual([true, true, true, false]);
    expect(model.problemsOf(key)).toEqual([]);
  });
});

describe.concurrent("a tool batch", () => {
  it("queue-03: an abort inside the first of two calls leaves a result for each", async () => {
    const calls = [bash("c1", "sleep 30"), bash("c2", "echo 2 >> log")];
    const { key, model, conversation, submissionId } = await begin([{ calls }, { text: "hello" }], "coder");
    const stream = await conversation.live("-1");
    await stream.until(({ chunks }) => chunks.some(({ type }) => type === "tool-input"));
    const began = Date.now();
    expect(await conversation.abort()).toEqual({ aborted: true });
    await stream.until(({ chunks }) => isSettled(chunks));
    expect(Date.now() - began).toBeLessThan(ABORT_WITHIN_MS);
    stream.close();
    expect((await conversation.settled(submissionId)).outcome).toBe("aborted");
    const tools = toolsOf((await conversation.history()).messages);
    expect(tools).toMatchObject([
      { toolCallId: "c1", state: "output-error" },
      { toolCallId: "c2", state: expect.stringMatching(/^output-/) },
    ]);
    const second = await conversation.send("b");
    expect((await conversation.settled(second.submissionId)).outcome).toBe("completed");
    expect(replyOf((await conversation.history()).messages, second.submissionId)).toBe("hello");
    const { body } = await model.waitForRequest(key, 2);
    const told = tools.map((tool) => (tool.state === "output-error" ? tool.errorText : expect.any(String)));
    expect(readToolResults(body)).toEqual(["c1", "c2"].map((id, n) => ({ id, text: told[n] })));
    expect(model.problemsOf(key)).toEqual([]);
  });

  it("queue-13: is recorded before its results, and they are shown to the model in call order", async () => {
    const read = { id: "c3", name: "read", arguments: { path: "nope" } };
    const calls = [bash("c1", "sleep 2; echo slow"), bash("c2", "echo quick"), read];
    const { key, model, conversation, submissionId } = await begin([{ calls }, { text: "ok" }], "coder");
    expect((await conversation.settled(submissionId)).outcome).toBe("completed");
    const kinds = (await conversation.chunksFrom("-1")).map(({ type }) => type);
    expect(kinds.filter((kind) => kind.startsWith("tool-"))).toEqual([
      ...calls.map(() => "tool-input"),
      ...calls.map(() => expect.stringContaining("tool-output")),
    ]);
    const { body } = await model.waitForRequest(key, 2);
    expect(readToolResults(body)).toEqual([
      { id: "c1", text: expect.stringContaining("slow") },
      { id: "c2", text: expect.stringContaining("quick") },
      { id: "c3", text: expect.stringContaining("nope") },
    ]);
    expect(toolsOf((await conversation.history()).messages)[2]?.state).toBe("output-error");
    expect(model.problemsOf(key)).toEqual([]);
  });
});

describe.concurrent("a message", () => {
  it("queue-09: sent in the moment the reply ends is answered once, behind the one before it", async () => {
    // Five at a time: with company, but not all in the same step. From 50 ms before the end to 50 ms behind it.
    for (let at = -50; at < 50; at += 10) await Promise.all([0, 2, 4, 6, 8].map((ms) => sendAroundTheEnd(at + ms)));
  });

  it("http-07: sent in the moment a settlement is written is admitted and answered", async () => {
    // It aims by itself: one that joined came before the settlement, so the next is sent later, and the other way round.
    const sides = new Set<boolean>();
    for (let tries = 0, shiftMs = 0; tries < 30 || sides.size < 2; tries++) {
      const hasJoined = await sendAroundTheEnd(shiftMs);
      sides.add(hasJoined);
      const stepMs = sides.size < 2 ? 10 : 2;
      shiftMs += hasJoined ? stepMs : -stepMs;
    }
  });

  it("queue-11: that waits when all is aborted ends with it, once, and stays in the history", async () => {
    const { key, model, conversation, message, first } = await begin([HANG, { text: "fresh" }]);
    await model.waitForRequest(key, 1);
    const sent = [first, await conversation.send("b"), await conversation.send("c")];
    expect(await conversation.abort()).toEqual({ aborted: true });
    const last = await conversation.send("d");
    expect((await conversation.settled(last.submissionId)).outcome).toBe("completed");
    const { messages, settlements } = await conversation.history();
    expect(settlements.map(({ submissionId, outcome }) => [submissionId, outcome])).toEqual([
      ...sent.map(({ submissionId }) => [submissionId, "aborted"]),
      [last.submissionId, "completed"],
    ]);
    expect(messages.filter(({ role }) => role === "user").flatMap(textsOf)).toEqual([message, "b", "c", "d"]);
    expect(replyOf(messages, last.submissionId)).toBe("fresh");
    expect(model.problemsOf(key)).toEqual([]);
  });
});

describe.concurrent("a reader", () => {
  it("stream-01: who leaves and comes back, and one who joins meanwhile, each see every letter once", async () => {
    const gates = Array.from("abcdefghij", (letter) => ({ letter, ...Promise.withResolvers<void>() }));
    const text = gates.flatMap(({ letter, promise }) => [{ gate: promise }, letter]);
    const { conversation, first, submissionId } = await begin([{ text }]);
    const left = await conversation.live("-1");
    for (const { letter, resolve } of gates.slice(0, 4)) {
      resolve();
      await left.until(({ chunks }) => spoken(chunks, submissionId).endsWith(letter));
    }
    await left.until(({ frames }) => frames.at(-1)?.event === "control");
    left.close();
    const from = left.offset() ?? first.offset;
    const [back, joined] = await Promise.all([conversation.live(from), conversation.live("-1")]);
    for (const { letter, resolve } of gates.slice(4)) {
      resolve();
      await joined.until(({ chunks }) => spoken(chunks, submissionId).endsWith(letter));
    }
    for (const reader of [back, joined]) await reader.until(({ chunks }) => isSettled(chunks));
    for (const reader of [back, joined]) reader.close();
    const resumed = placed([...left.chunks, ...back.chunks]);
    expect(spoken(resumed, submissionId)).toBe("abcdefghij");
    expect(spoken(joined.chunks, submissionId)).toBe("abcdefghij");
    expect(resumed).toEqual(placed(joined.chunks));
    const batches = placed(back.chunks).map(({ position }) => position.batch);
    expect(Math.min(...batches)).toBeGreaterThan(Number(from.split("_")[1]));
  });

  it("stream-05: of a tool that is silent for long is never left without a byte", {
    timeout: LONG_TEST_MS,
  }, async () => {
    const turns = [{ calls: [bash("c1", "sleep 40; echo z")] }, { text: "ok" }];
    const { conversation } = await begin(turns, "coder");
    const signal = AbortSignal.timeout(LONG_TEST_MS);
    const { body } = await conversation.call("GET", "?view=updates&offset=-1&live=sse", { signal });
    const began = Date.now();
    let last = began;
    let widestMs = 0;
    let seen = "";
    for await (const bytes of body ?? []) {
      widestMs = Math.max(widestMs, Date.now() - last);
      last = Date.now();
      seen += new TextDecoder().decode(bytes);
      if (seen.includes('"outcome"')) break;
    }
    expect(seen).toContain('"outcome":"completed"');
    // Silent for longer than a gap may be, or it would say nothing.
    expect(last - began).toBeGreaterThan(LONGEST_GAP_MS);
    expect(widestMs).toBeLessThan(LONGEST_GAP_MS);
  });
});
