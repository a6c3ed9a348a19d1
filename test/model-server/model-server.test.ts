/** The model server speaks the protocol, fails as told, and sees what a request lacks. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { checkChatRequest } from "./chat-check.ts";
import { checkMessagesRequest } from "./messages-check.ts";
import { ModelServer } from "./model-server.ts";
import { type ChatMessage, scriptToken } from "./script.ts";

let server: ModelServer;
beforeAll(async () => {
  server = await ModelServer.start();
});
afterAll(() => server.stop());

function ask(key: string, signal?: AbortSignal): Promise<Response> {
  return fetch(`${server.baseUrl}/chat/completions`, {
    method: "POST",
    body: JSON.stringify({ model: "fake", stream: true, messages: [user(`go ${scriptToken(key)}`)] }),
    ...(signal ? { signal } : {}),
  });
}

function user(content: string): ChatMessage {
  return { role: "user", content };
}

function calling(...ids: string[]): ChatMessage {
  return { role: "assistant", tool_calls: ids.map((id) => ({ id, function: { name: "bash", arguments: "{}" } })) };
}

function result(id: string, content = "ok"): ChatMessage {
  return { role: "tool", tool_call_id: id, content };
}

interface Delta {
  content?: string;
  tool_calls?: { function: { arguments: string } }[];
}

async function readDeltas(answer: Response): Promise<{ deltas: Delta[]; finish: string | undefined }> {
  const lines = (await answer.text()).split("\n\n").filter((line) => line.startsWith("data: {"));
  const choices = lines.flatMap((line) => JSON.parse(line.slice(6)).choices);
  return {
    deltas: choices.map((choice) => choice.delta),
    finish: choices.find((choice) => choice.finish_reason)?.finish_reason,
  };
}

describe("the model server", () => {
  it("streams the turns of a script in order, one delta a piece", async () => {
    server.script("order", [
      { text: ["a", "b"] },
      { calls: [{ id: "c1", name: "bash", arguments: { command: "ls" } }] },
    ]);
    const first = await readDeltas(await ask("order"));
    expect(first.deltas.flatMap((delta) => delta.content || [])).toEqual(["a", "b"]);
    expect(first.finish).toBe("stop");
    const second = await readDeltas(await ask("order"));
    const text = second.deltas.flatMap((delta) => delta.tool_calls?.map((call) => call.function.arguments) ?? []);
    expect(JSON.parse(text.join(""))).toEqual({ command: "ls" });
    expect(second.finish).toBe("tool_calls");
  });

  it("holds a stream at a gate until the test opens it", async () => {
    const gate = Promise.withResolvers<void>();
    server.script("gate", [{ text: ["before", { gate: gate.promise }, "after"] }]);
    const answer = await ask("gate");
    expect(server.requestsOf("gate")[0]?.state).toBe("open");
    gate.resolve();
    expect(await answer.text()).toContain("after");
    await server.waitForRequest("gate", 1, "answered");
  });

  it("fails as the script says: a status, a cut stream, silence", async () => {
    server.script("http", [{ fault: { kind: "http", status: 529, headers: { "retry-after": "1" } } }]);
    const refused = await ask("http");
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([529, "1"]);
    server.script("cut", [{ text: "half", fault: { kind: "cut", after: "text" } }]);
    const cut = await ask("cut");
    await expect(cut.text()).rejects.toThrow();
    server.script("hang", [{ fault: { kind: "hang", after: "request" } }]);
    const caller = new AbortController();
    const hanging = ask("hang", caller.signal);
    await server.waitForRequest("hang");
    caller.abort();
    await expect(hanging).rejects.toThrow();
    await server.waitForRequest("hang", 1, "gone");
  });

  it("notes a request beyond the script, so that a test sees a turn too many", async () => {
    server.script("short", []);
    expect((await ask("short")).status).toBe(400);
    expect(server.requestsOf("short")[0]?.problems).toEqual(["the script has no turn left"]);
  });
});

describe("the strict request check", () => {
  it.each<[string, ChatMessage[], RegExp]>([
    ["a call without a result", [user("a"), calling("c1"), user("b")], /call c1 has no result/],
    ["a call without a result at the end", [user("a"), calling("c1")], /call c1 has no result/],
    ["a second result", [user("a"), calling("c1"), result("c1"), result("c1")], /second one/],
    ["a result of no call", [user("a"), result("c9")], /belongs to no call/],
    ["a late result", [user("a"), calling("c1", "c2"), result("c1"), user("b"), result("c2")], /comes late/],
    ["an id used twice", [user("a"), calling("c1"), result("c1"), calling("c1"), result("c1")], /used before/],
    ["an unsafe id", [user("a"), calling("c 1"), result("c 1")], /not safe/],
    ["an empty result", [user("a"), calling("c1"), result("c1", "")], /empty tool result/],
    ["an empty reply", [user("a"), { role: "assistant", content: " " }, user("b")], /empty assistant/],
    ["an empty question", [user("")], /empty user/],
    ["a second system message", [user("a"), { role: "system", content: "x" }, user("b")], /after the first/],
    ["half a surrogate pair", [user("\ud83d")], /surrogate/],
    ["no question", [{ role: "system", content: "x" }], /no user message/],
    ["a role nobody has", [user("a"), { role: "function", content: "x" }, user("b")], /the role function/],
    [
      "a call by an odd name",
      [
        user("a"),
        { role: "assistant", tool_calls: [{ id: "c1", function: { name: "a.b", arguments: "{}" } }] },
        result("c1"),
      ],
      /has the name a\.b/,
    ],
    [
      "an image that is none",
      [{ role: "user", content: [{ type: "image_url", image_url: { url: "x" } }] }],
      /an image that is none/,
    ],
    [
      "an image of the model's",
      [
        user("a"),
        {
          role: "assistant",
          content: [
            { type: "text", text: "x" },
            { type: "image_url", image_url: { url: "https://x" } },
          ],
        },
        user("b"),
      ],
      /an image of the assistant/,
    ],
  ])("refuses %s", (_name, messages, problem) => {
    expect(checkChatRequest({ messages })).toEqual(expect.arrayContaining([expect.stringMatching(problem)]));
  });

  it("takes a batch whose results came in any order before the next message", () => {
    const messages = [user("a"), calling("c1", "c2"), result("c2"), result("c1"), user("b")];
    expect(checkChatRequest({ messages: [{ role: "system", content: "x" }, ...messages] })).toEqual([]);
  });
});

describe("the strict check of a Messages request", () => {
  const TEXT = { type: "text", text: "x" };
  const marked = { ...TEXT, cache_control: { type: "ephemeral" } };
  const calls = (...ids: string[]) => ({
    role: "assistant",
    content: ids.map((id) => ({ type: "tool_use", id, name: "bash", input: {} })),
  });
  const results = (...ids: string[]) => ({
    role: "user",
    content: ids.map((id) => ({ type: "tool_result", tool_use_id: id, content: "ok" })),
  });
  const last = { role: "user", content: [marked] };
  const check = (messages: ChatMessage[], over: Record<string, unknown> = {}) =>
    checkMessagesRequest({ max_tokens: 10, system: [marked], messages: [...messages, last], ...over });

  it.each<[string, ChatMessage[], RegExp]>([
    ["a message of the system's", [{ role: "system", content: "x" }], /the role system/],
    ["a reply before a question", [{ role: "assistant", content: "x" }], /first message/],
    ["a call without a result", [user("a"), calls("c1"), user("b")], /call c1 has no result/],
    ["a second result", [user("a"), calls("c1"), results("c1", "c1")], /second one/],
    ["a result of no call", [user("a"), results("c9")], /belongs to no call/],
    [
      "a result behind a text",
      [user("a"), calls("c1"), { role: "user", content: [TEXT, ...results("c1").content] }],
      /behind something else/,
    ],
    ["an id used twice", [user("a"), calls("c1"), results("c1"), calls("c1"), results("c1")], /used before/],
    ["a blank text", [user(" ")], /blank text block/],
    ["an empty message", [user("a"), { role: "assistant", content: [] }], /empty assistant/],
    [
      "reasoning without a signature",
      [user("a"), { role: "assistant", content: [{ type: "thinking", thinking: "hm", signature: "" }, TEXT] }],
      /signature/,
    ],
    ["an image of an odd kind", [{ role: "user", content: [{ type: "image", source: { type: "url" } }] }], /image/],
    ["too many marks", [{ role: "user", content: [marked, marked, marked, marked] }], /6 places/],
    ["half a surrogate pair", [user("\ud83d")], /surrogate/],
  ])("refuses %s", (_name, messages, problem) => {
    expect(check(messages)).toEqual(expect.arrayContaining([expect.stringMatching(problem)]));
  });

  it.each<[string, Record<string, unknown>, RegExp]>([
    ["no output limit", { max_tokens: undefined }, /output limit/],
    ["reasoning that fills the output", { thinking: { budget_tokens: 10 } }, /no room/],
    ["a blank system prompt", { system: [{ ...marked, text: "" }] }, /blank system/],
    ["a system prompt that is not cached", { system: [TEXT] }, /system prompt is not marked/],
    ["a tool that is not cached", { tools: [{ name: "bash" }] }, /last tool is not marked/],
    ["a tool twice", { tools: [{ name: "a" }, { name: "a" }] }, /there twice/],
    ["a newest message that is not cached", { messages: [user("a")] }, /newest message is not marked/],
    [
      "a reply as the newest message",
      { messages: [user("a"), { role: "assistant", content: [marked] }] },
      /last message/,
    ],
  ])("refuses %s", (_name, over, problem) => {
    expect(check([], over)).toEqual(expect.arrayContaining([expect.stringMatching(problem)]));
  });

  it("takes a batch of calls with its results in any order, and a user's words behind them", () => {
    const answered = { role: "user", content: [...results("c2", "c1").content, TEXT] };
    expect(check([user("a"), user("b"), calls("c1", "c2"), answered])).toEqual([]);
  });
});

describe("the model server over Messages", () => {
  it("streams the turns of the same scripts, block by block", async () => {
    const calls = [{ id: "c1", name: "bash", arguments: { command: "ls" } }];
    server.script("messages", [{ reasoning: "hm", text: ["a", "b"], calls }]);
    const answer = await fetch(`${server.origin}/v1/messages?beta=true`, {
      method: "POST",
      body: JSON.stringify({ model: "fake", stream: true, messages: [user(`go ${scriptToken("messages")}`)] }),
    });
    const text = await answer.text();
    const events = [...text.matchAll(/^data: (.*)$/gm)].map((match) => JSON.parse(match[1] ?? ""));
    const names = [...text.matchAll(/^event: (.*)$/gm)].map((match) => match[1]);
    expect(names).toEqual(events.map(({ type }) => type));
    const starts = events.filter(({ type }) => type === "content_block_start");
    expect(starts.map(({ index, content_block }) => [index, content_block.type])).toEqual([
      [0, "thinking"],
      [1, "text"],
      [2, "tool_use"],
    ]);
    const json = events.flatMap(({ delta }) => (delta?.type === "input_json_delta" ? [delta.partial_json] : []));
    expect(JSON.parse(json.join(""))).toEqual({ command: "ls" });
    expect(events.find(({ type }) => type === "message_delta").delta.stop_reason).toBe("tool_use");
  });
});
