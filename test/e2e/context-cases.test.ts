/**
 * Reported faults of contexts that grow too long, over the wire: a small window, a model that counts what it is told to.
 * Inputs and right answers are those of the public reports; the ids are the project's own list.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ModelTurn, type RecordedRequest, scriptToken, textOf } from "../model-server/script.ts";
import { type ConversationClient, openConversation, replyOf } from "../wire/conversation-client.ts";
import { type ScriptedBerth, startScriptedBerth } from "./scripted-berth.ts";

const WINDOW_TOKENS = 40_000;
const MAX_TOKENS = 4_096;

let scripted: ScriptedBerth;
beforeAll(async () => {
  scripted = await startScriptedBerth({
    BERTH_CONTEXT_WINDOW: String(WINDOW_TOKENS),
    BERTH_MAX_TOKENS: String(MAX_TOKENS),
  });
});
afterAll(() => scripted.stop());

const count = (input: number) => ({ usage: { input, output: 0 } });
const bash = (id: string, command: string) => ({ id, name: "bash", arguments: { command } });
const tooLong: ModelTurn = {
  fault: {
    kind: "http",
    status: 400,
    body: { error: { message: "prompt is too long", type: "invalid_request_error" } },
  },
};

function isSummaryRequest({ body }: RecordedRequest): boolean {
  return body.messages.some((message) => textOf(message.content).startsWith("<conversation>"));
}

function textsOf({ body }: RecordedRequest): string[] {
  return body.messages.map((message) => textOf(message.content));
}

async function run(conversation: ConversationClient, text: string): Promise<string> {
  const { submissionId } = await conversation.send(text);
  const { outcome, error } = await conversation.settled(submissionId);
  if (outcome !== "completed") throw new Error(`${outcome}: ${JSON.stringify(error)}`);
  return replyOf((await conversation.history()).messages, submissionId);
}

describe("a context that grows too long", () => {
  it("context-01: is never cut between a call and its result", { timeout: 120_000 }, async () => {
    const { berth, model } = scripted;
    const turns: ModelTurn[] = Array.from({ length: 30 }, (_, i) => ({
      calls: ["a", "b"].map((side) => bash(`c${i}${side}`, "seq 1 1500")),
      ...count(1500 * (i + 1)),
    }));
    // A request for a summary is answered as such, wherever it comes.
    let turn = 0;
    model.script("context-01", (request) =>
      isSummaryRequest(request) ? { text: "summary" } : (turns[turn++] ?? { text: "done", ...count(10_000) }),
    );
    const conversation = openConversation(berth.baseUrl, "coder");
    expect(await run(conversation, `a ${scriptToken("context-01")}`)).toContain("done");
    const requests = model.requestsOf("context-01");
    expect(requests.filter(isSummaryRequest).length).toBeGreaterThan(0);
    // The server's own checker refuses calls without results and results without calls.
    expect(model.problemsOf("context-01")).toEqual([]);
    const own = requests.filter((request) => !isSummaryRequest(request));
    for (const request of own) expect(textsOf(request).join("\n")).toContain(`a ${scriptToken("context-01")}`);
  });

  it("context-03: shrinks although the newest result alone is larger than what is kept", async () => {
    const { berth, model } = scripted;
    const conversation = openConversation(berth.baseUrl, "coder");
    model.script("prepare", [
      {
        calls: [
          bash(
            "p",
            "for i in $(seq 1 700); do printf 'row %04d kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk\\n' $i; done > rows.txt",
          ),
        ],
      },
      { text: "ready" },
      // The summary of this first turn, whose text holds this token.
      { text: "sum" },
    ]);
    await run(conversation, scriptToken("prepare"));
    model.script("context-03", [
      { calls: [{ id: "c1", name: "read", arguments: { path: "rows.txt" } }] },
      tooLong,
      ...[{ text: "sum" }, { text: "done" }],
    ]);
    expect(await run(conversation, `a ${scriptToken("context-03")}`)).toBe("done");
    const requests = model.requestsOf("context-03").filter((request) => !isSummaryRequest(request));
    const [, refused, last] = requests.map((request) => textsOf(request).join("").length);
    expect(last).toBeLessThan(0.9 * Number(refused));
    expect(model.problemsOf("context-03")).toEqual([]);
  });

  it("context-05: is not summarised again and again where the count stays high", async () => {
    const { berth, model } = scripted;
    let steps = 0;
    model.script("context-05", (request) => {
      if (isSummaryRequest(request)) return { text: "sum", ...count(39_000) };
      return steps++ < 6
        ? { calls: [bash(`s${steps}`, "echo 1")], ...count(39_000) }
        : { text: "done", ...count(39_000) };
    });
    const conversation = openConversation(berth.baseUrl, "coder");
    expect(await run(conversation, `a ${scriptToken("context-05")}`)).toContain("done");
    expect(model.requestsOf("context-05").filter(isSummaryRequest).length).toBeLessThanOrEqual(3);
  });

  it("context-07: forgets the count of before a compaction", async () => {
    const { berth, model } = scripted;
    model.script("context-07", [
      { text: "t", ...count(38_000) },
      { text: "sum" },
      { text: "u", ...count(6_000) },
      { text: "v", ...count(6_100) },
    ]);
    const conversation = openConversation(berth.baseUrl, "coder");
    const replies = [];
    for (const text of ["a", "b", "c"]) replies.push(await run(conversation, `${text} ${scriptToken("context-07")}`));
    expect(replies).toEqual(["t", "u", "v"]);
    expect(model.requestsOf("context-07").map(isSummaryRequest)).toEqual([false, true, false, false]);
  });

  it("context-09: keeps the running request verbatim", async () => {
    const { berth, model } = scripted;
    const steps = [9_000, 18_000, 27_000, 36_000].map((tokens, i) => ({
      calls: [bash(`b${i}`, "seq 1 1500")],
      ...count(tokens),
    }));
    model.script("context-09", [
      { calls: [{ id: "a1", name: "write", arguments: { path: "one.txt", content: "1" } }] },
      { text: "one done" },
      ...steps,
      ...[{ text: "sum" }, { text: "two done" }],
    ]);
    const conversation = openConversation(berth.baseUrl, "coder");
    await run(conversation, `Task ONE: write one.txt ${scriptToken("context-09")}`);
    const task = `Task TWO: only list numbers ${scriptToken("context-09")}`;
    expect(await run(conversation, task)).toContain("two done");
    const requests = model.requestsOf("context-09");
    const at = requests.findIndex(isSummaryRequest);
    expect(at).toBeGreaterThan(0);
    for (const request of requests.slice(at + 1)) {
      const texts = textsOf(request);
      const summary = texts.findIndex((text) => text.startsWith('<compaction type="context_summary">\nsum'));
      expect(summary).toBeGreaterThan(0);
      expect(texts.indexOf(task)).toBeGreaterThan(summary);
      expect(texts.join("\n")).toContain("<modified-files>\none.txt\n</modified-files>");
    }
    expect(model.problemsOf("context-09")).toEqual([]);
  });

  it("tells clients of a compaction once, and stores the next prompt with it", async () => {
    const { berth, model } = scripted;
    model.script("epoch", [{ text: "t", ...count(38_000) }, { text: "The summary." }, { text: "u", ...count(500) }]);
    const conversation = openConversation(berth.baseUrl, "coder");
    await run(conversation, `a ${scriptToken("epoch")}`);
    await run(conversation, `b ${scriptToken("epoch")}`);
    const { messages } = await conversation.history();
    const advisories = messages.filter((message) => message.purpose === "advisory");
    expect(advisories).toMatchObject([{ display: "diagnostic", role: "system", parts: [{ text: "The summary." }] }]);
    const { prompt } = (await (await conversation.call("GET", "/prompt")).json()) as { prompt: { epoch: number } };
    expect(prompt.epoch).toBe(2);
  });

  it("keeps its prefix after a restart that follows a compaction", async () => {
    const { berth, model } = scripted;
    model.script("restart", [
      { text: "t", ...count(38_000) },
      { text: "The summary." },
      { calls: [bash("r1", "echo kept")], ...count(500) },
      { text: "u", ...count(600) },
      { text: "v", ...count(700) },
    ]);
    const conversation = openConversation(berth.baseUrl, "coder");
    await run(conversation, `a ${scriptToken("restart")}`);
    await run(conversation, `b ${scriptToken("restart")}`);
    await berth.kill();
    await berth.restart();
    expect(await run(conversation, `c ${scriptToken("restart")}`)).toBe("v");
    const [before, after] = model
      .requestsOf("restart")
      .slice(-2)
      .map(({ body }) => body.messages.map((message) => JSON.stringify(message)));
    expect(after?.slice(0, before?.length)).toEqual(before);
  });

  it("settles with a clear error where the prompt alone fills the window", async () => {
    const small = await startScriptedBerth({ BERTH_CONTEXT_WINDOW: "500", BERTH_MAX_TOKENS: "100" });
    try {
      small.model.script("full", [{ text: "x" }]);
      const conversation = openConversation(small.berth.baseUrl, "coder");
      const { submissionId } = await conversation.send(scriptToken("full"));
      const { outcome, error } = await conversation.settled(submissionId);
      expect({ outcome, type: error?.type }).toEqual({ outcome: "failed", type: "context_overflow" });
      expect(error?.message).toMatch(/system prompt and the tools .* fill the model's context window of 500 tokens/);
      expect(small.model.requestsOf("full")).toEqual([]);
    } finally {
      await small.stop();
    }
  });
});
