/**
 * Providers that misbehave, in a whole conversation and over real HTTP, in both protocols. A number is the case of a fault
 * that people reported of tools that do this job. Source: contract RUNTIME 2.7, 9.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { SettledAnswer } from "../../durable-objects/protocol/rpc.ts";
import { ModelServer } from "../model-server/model-server.ts";
import { type ModelTurn, readToolResults, type ScriptedCall } from "../model-server/script.ts";
import {
  openProvidedConversation,
  PROVIDED_MODELS,
  type ProvidedConversation,
  type ProvidedOptions,
} from "./fixtures/provided-conversation.ts";

let model: ModelServer;
beforeAll(async () => {
  model = await ModelServer.start();
  // The SDKs take seconds to load for the first time.
  await Promise.all([import("openai"), import("@anthropic-ai/sdk")]);
}, 60_000);
afterAll(() => model.stop());

const open = (spec: string, turns: ProvidedOptions["turns"], options: Partial<ProvidedOptions> = {}) =>
  openProvidedConversation(model, { spec, turns, ...options });

const call = (id: string, name: string, args: ScriptedCall["arguments"]): ScriptedCall => ({
  ...{ id, name, arguments: args },
});
const bash = (id: string, command: string) => call(id, "bash", { command });
const http = (status: number, headers: Record<string, string> = {}, body?: unknown): ModelTurn => ({
  fault: { kind: "http", status, headers, ...(body !== undefined && { body }) },
});

function textOf({ message }: SettledAnswer): string {
  return (message?.parts ?? []).flatMap((part) => ("text" in part ? [String(part.text)] : [])).join("");
}

function resultsOf(conversation: ProvidedConversation) {
  return conversation.records().flatMap(({ body }) => (body.type === "tool_result" ? [body] : []));
}

function lastResults(conversation: ProvidedConversation): { id: string; text: string }[] {
  return readToolResults(conversation.requests().at(-1)?.body ?? { messages: [] });
}

/** Completed with the text, after so many requests, all of which a fussy provider would have taken. */
async function expectAnswer(conversation: ProvidedConversation, text: string, requests: number): Promise<void> {
  const answer = await conversation.send("a");
  expect(answer.settlement.outcome).toBe("completed");
  expect(textOf(answer)).toBe(text);
  expect(conversation.requests()).toHaveLength(requests);
  expect(conversation.problems()).toEqual([]);
}

describe.each(PROVIDED_MODELS)("with %s", (spec) => {
  describe("a reply that was cut at the output limit", () => {
    const written = bash("c0", "printf 'full old text\\n' > doc.md");
    const read = bash("c9", "cat doc.md");
    it.each([
      ["write", { path: "doc.md", content: "# T\nsec 1\nsec 2 is cut of" }],
      ["edit", { path: "doc.md", oldText: "full", newText: "cut of" }],
      ["bash", { command: "rm doc.md" }],
    ])("provider-01: does not run its call of %s", async (name, args) => {
      const cut: ModelTurn = { calls: [call("c1", name, args)], stop: "length" };
      const conversation = open(spec, [{ calls: [written] }, cut, { calls: [read] }, { text: "ok" }]);
      await expectAnswer(conversation, "ok", 4);
      const [, refused, shown] = resultsOf(conversation);
      expect(refused).toMatchObject({ isError: true, text: expect.stringMatching(/not executed.*output token limit/) });
      expect(shown?.text).toContain("full old text");
    });
  });

  it("provider-03: is waited for as long as it asks, in seconds and as a date", async () => {
    const date = new Date(Date.now() + 7_000 + 5_000).toUTCString();
    const conversation = open(spec, [
      http(429, { "retry-after": "7" }),
      // The clock that jumps is ours; the provider tells its own time.
      http(429, { "retry-after": date, date: new Date(Date.parse(date) - 5_000).toUTCString() }),
      { text: "ok" },
    ]);
    await expectAnswer(conversation, "ok", 3);
    expect(conversation.waits.map((wait) => Math.round(wait / 100) * 100)).toEqual([7_000, 6_000]);
  });

  it.each([
    ["an absurd one", "999999999", 60_000],
    ["a negative one", "-5", 2_000],
    ["none at all", "0", 2_000],
    ["one that is over", "Thu, 01 Jan 1970 00:00:00 GMT", 2_000],
    ["words", "soon", 2_000],
  ])("waits %s within reason", async (_name, value, waitMs) => {
    const conversation = open(spec, [http(503, { "retry-after": value }), { text: "ok" }]);
    await expectAnswer(conversation, "ok", 2);
    expect(conversation.waits.map((wait) => Math.round(wait / 100) * 100)).toEqual([waitMs]);
  });

  it("provider-05: is asked no more after an abort in the pause between two tries", async () => {
    const conversation = open(spec, [http(529), { text: "no" }], { holdsWaits: true });
    const submissionId = conversation.post("a");
    await expect.poll(() => conversation.isWaiting()).toBe(true);
    conversation.engine.abort();
    expect((await conversation.settled(submissionId)).settlement.outcome).toBe("aborted");
    expect(conversation.requests()).toHaveLength(1);
  });

  it("provider-07: is asked again after an answer without content, which it never sees", async () => {
    const conversation = open(spec, [{ calls: [bash("c1", "echo 1")] }, {}, { text: "real" }]);
    await expectAnswer(conversation, "real", 3);
    const [, second, third] = conversation.requests().map(({ body }) => body.messages);
    expect(third).toEqual(second);
  });

  it.each(["\n", "\r\n", "\r"] as const)("provider-09: is read whatever its lines end with (%j)", async (lineEnd) => {
    const wire = { isBytewise: true, hasPings: true, ...(lineEnd !== "\n" && { lineEnd }) };
    const turns = [
      { calls: [bash("c1", "echo é🙂")], wire },
      { text: ["héllo ", "🙂"], wire },
    ];
    const conversation = open(spec, turns);
    await expectAnswer(conversation, "héllo 🙂", 2);
    expect(lastResults(conversation)).toEqual([{ id: "c1", text: expect.stringContaining("é🙂") }]);
  });

  it.each(["cut", "end"] as const)("provider-11: in mid-call a %s line leaves nothing behind", async (kind) => {
    const half: ModelTurn = { calls: [bash("c1", "echo half >> ran")], fault: { kind, after: "call" } };
    const conversation = open(spec, [half, { text: "ok" }, { text: "two" }]);
    await expectAnswer(conversation, "ok", 2);
    expect(resultsOf(conversation)).toEqual([]);
    await conversation.send("b");
    expect(JSON.stringify(conversation.requests().map(({ body }) => body.messages))).not.toContain("echo half");
    expect(conversation.problems()).toEqual([]);
  });

  it.each<[string, ModelTurn]>([
    ["a reset before the answer", { fault: { kind: "cut", after: "request" } }],
    ["a reset behind the headers", { fault: { kind: "cut", after: "headers" } }],
    ["a reset in the text", { text: "half", fault: { kind: "cut", after: "text" } }],
    ["an end behind the headers", { fault: { kind: "end", after: "headers" } }],
    ["an end in the text", { text: "half", fault: { kind: "end", after: "text" } }],
    [
      "a fault in the text",
      { text: "half", fault: { kind: "error", after: "text", error: { type: "overloaded_error", message: "x" } } },
    ],
    ["a page of HTML", http(502, { "content-type": "text/html" }, "<html>Bad Gateway: refused</html>")],
    ["a page of HTML that calls itself well", http(200, { "content-type": "text/html" }, "<html>Sign in</html>")],
    ["a fault in a 200", http(200, {}, { error: { type: "server_error", message: "x" } })],
    ["events that are broken", { fault: { kind: "raw", sse: 'event: message_start\ndata: {"id":\n\n' } }],
    ["a 408", http(408)],
    ["a 500", http(500)],
    ["a 529", http(529)],
  ])("is asked again after %s, and shows nothing of it", async (_name, turn) => {
    const conversation = open(spec, [turn, { text: "whole" }]);
    await expectAnswer(conversation, "whole", 2);
    expect(conversation.waits).toHaveLength(1);
  });

  it.each(["request", "headers", "text", "call"] as const)(
    "is given up when it is silent behind its %s",
    async (after) => {
      const silent: ModelTurn = { text: "half", calls: [bash("c1", "echo x")], fault: { kind: "hang", after } };
      const conversation = open(spec, [silent, { text: "whole" }], { silenceMs: 300 });
      await expectAnswer(conversation, "whole", 2);
    },
  );

  it("is asked five times more, ever later, and then fails with its status", async () => {
    const conversation = open(spec, () => http(503));
    const { settlement } = await conversation.send("a");
    expect(settlement).toMatchObject({ outcome: "failed", error: { type: "provider_failed", meta: { status: 503 } } });
    expect(conversation.requests()).toHaveLength(6);
    const waits = conversation.waits.map((wait) => Math.round(wait / 1000));
    expect(waits).toEqual([2, 4, 8, 16, 32]);
  });

  it.each<[string, ModelTurn, number]>([
    ["a 400", http(400), 400],
    ["a 401", http(401), 401],
    ["a 403", http(403), 403],
    ["a 404", http(404), 404],
    ["a 422", http(422), 422],
    ["a refusal in a 200", http(200, {}, { error: { type: "authentication_error", message: "sk-secret" } }), 401],
    [
      "a refusal in the text",
      { text: "x", fault: { kind: "error", after: "text", error: { type: "invalid_request_error", message: "x" } } },
      400,
    ],
    ["a content filter", { text: "x", stop: "content_filter" }, 200],
  ])("fails at once after %s, and the next message goes through", async (_name, turn, status) => {
    const conversation = open(spec, [turn, { text: "ok" }]);
    const { settlement } = await conversation.send("a");
    expect(settlement).toMatchObject({ outcome: "failed", error: { type: "provider_failed", meta: { status } } });
    expect(JSON.stringify(settlement)).not.toContain("sk-secret");
    expect(textOf(await conversation.send("b"))).toBe("ok");
    expect(conversation.problems()).toEqual([]);
  });

  it.each<[string, ModelTurn]>([
    ["a 413", http(413)],
    ["a 400 that says so", http(400, {}, { error: { message: "prompt is too long: 9 tokens > 8 maximum" } })],
    ["the marker of Workers AI", http(400, {}, { error: { message: "no (request_too_large)" } })],
  ])("has overflowed after %s", async (_name, turn) => {
    const conversation = open(spec, () => turn);
    const { settlement } = await conversation.send("a");
    expect(settlement).toMatchObject({ outcome: "failed", error: { type: "context_overflow" } });
  });

  it("repeats an id, sends none and sends odd ones, and every call runs once under its own", async () => {
    const turns = [
      { calls: [bash("c1", "echo one"), bash("c1", "echo two")] },
      { calls: [bash("c1", "echo three"), bash("", "echo four"), bash("a b|c", "echo five")] },
      { text: "ok" },
    ];
    const conversation = open(spec, turns);
    await expectAnswer(conversation, "ok", 3);
    expect(resultsOf(conversation).map(({ text }) => text.trim())).toEqual(["one", "two", "three", "four", "five"]);
    expect(new Set(lastResults(conversation).map(({ id }) => id)).size).toBe(5);
  });

  it.each(["[1]", '"x"', "null", '{"command":'])("is told that the arguments %s are none", async (args) => {
    const conversation = open(spec, [{ calls: [call("c1", "bash", args)] }, { text: "ok" }]);
    await expectAnswer(conversation, "ok", 2);
    expect(resultsOf(conversation)).toMatchObject([{ isError: true, text: expect.stringContaining("arguments") }]);
  });

  it("is told of a tool that there is not, under a name that it takes back", async () => {
    const calls = [call("c1", "functions.bash", {}), call("c2", "", {}), call("c3", "x".repeat(99), {})];
    const conversation = open(spec, [{ calls }, { text: "ok" }]);
    await expectAnswer(conversation, "ok", 2);
    expect(resultsOf(conversation).map(({ isError }) => isError)).toEqual([true, true, true]);
  });

  it("answers without usage, and with a reason nobody knows", async () => {
    const conversation = open(spec, [{ text: "ok", usage: null, stop: "eos_token" }]);
    await expectAnswer(conversation, "ok", 1);
  });

  it("is shown its reasoning as it wants it", async () => {
    const turns = [
      { reasoning: "hm", calls: [bash("c1", "echo 1")] },
      { reasoning: "so", text: "ok" },
      { text: "two" },
    ];
    const conversation = open(spec, turns);
    await conversation.send("a");
    await conversation.send("b");
    expect(conversation.problems()).toEqual([]);
    expect(conversation.requests()).toHaveLength(3);
  });
});
