/** The model server speaks the protocol, fails as told, and sees what a request lacks. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ModelServer } from "./model-server.ts";
import { checkRequest } from "./request-check.ts";
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
  ])("refuses %s", (_name, messages, problem) => {
    expect(checkRequest({ messages })).toEqual(expect.arrayContaining([expect.stringMatching(problem)]));
  });

  it("takes a batch whose results came in any order before the next message", () => {
    const messages = [user("a"), calling("c1", "c2"), result("c2"), result("c1"), user("b")];
    expect(checkRequest({ messages: [{ role: "system", content: "x" }, ...messages] })).toEqual([]);
  });
});
