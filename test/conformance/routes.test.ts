/** Addresses, methods, errors and headers (RUNTIME 1.1, 1.2, 1.6, 1.11), from outside. */
import { describe, expect, inject, it } from "vitest";
import { freshId, openConversation, readJson, type WireError } from "../wire/conversation-client.ts";

const baseUrl = inject("berthUrl");

async function expectError(answer: Response, status: number, type: string): Promise<WireError["error"]> {
  const { error } = await readJson<WireError>(answer, status);
  expect(error).toMatchObject({ type, message: expect.any(String), details: expect.any(String) });
  expect(answer.headers.get("content-type")).toContain("application/json");
  expect(answer.headers.get("x-content-type-options")).toBe("nosniff");
  expect(answer.headers.get("cross-origin-resource-policy")).toBe("cross-origin");
  expect(JSON.stringify(error)).not.toMatch(/\bat .+:\d+:\d+/);
  return error;
}

describe("the door", () => {
  it("answers its liveness with JSON", async () => {
    expect(await readJson<object>(await fetch(`${baseUrl}/health`), 200)).toBeTypeOf("object");
  });

  it("answers a path it does not serve with route_not_found", async () => {
    for (const path of ["/nothing", "/agents/coder/a/b/c", `/agents/no-such-agent/${freshId()}`]) {
      await expectError(await fetch(baseUrl + path), 404, "route_not_found");
    }
  });

  it.each([
    ["empty", ""],
    ["blank", "%20"],
    ["with a control character", "a%00b"],
    ["longer than 256 characters", "x".repeat(257)],
  ])("refuses a conversation id that is %s", async (_what, id) => {
    const init = {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: '{"kind":"user","body":"x"}',
    };
    await expectError(await fetch(`${baseUrl}/agents/coder/${id}`, init), 400, "invalid_request");
  });

  it("keeps ids apart byte for byte, an encoded slash included", async () => {
    const id = freshId();
    const slashed = openConversation(baseUrl, "assistant", `${id}/Ä`);
    const { submissionId } = await slashed.send("hello");
    await slashed.settled(submissionId);
    await expectError(await openConversation(baseUrl, "assistant", `${id}/ä`).call("GET"), 404, "stream_not_found");
  });

  it.each(["PUT", "PATCH"])("refuses %s on a conversation and says what is allowed", async (method) => {
    const answer = await openConversation(baseUrl, "assistant").call(method);
    await expectError(answer, 405, "method_not_allowed");
    const allowed = (answer.headers.get("allow") ?? "").split(",").map((name) => name.trim());
    expect(allowed.sort()).toEqual(["DELETE", "GET", "HEAD", "POST"]);
  });

  it("allows POST alone on abort", async () => {
    const answer = await openConversation(baseUrl, "assistant").call("GET", "/abort");
    await expectError(answer, 405, "method_not_allowed");
    expect(answer.headers.get("allow")).toBe("POST");
  });
});

describe("a conversation nobody has contacted", () => {
  it.each([
    ["history", "GET", ""],
    ["updates", "GET", "?view=updates&offset=-1"],
    ["a live stream", "GET", "?view=updates&offset=-1&live=sse"],
    ["abort", "POST", "/abort"],
  ])("is not found by %s", async (_what, method, path) => {
    await expectError(await openConversation(baseUrl, "assistant").call(method, path), 404, "stream_not_found");
  });

  it("is not found by HEAD, without a body", async () => {
    const answer = await openConversation(baseUrl, "assistant").call("HEAD");
    expect([answer.status, await answer.text()]).toEqual([404, ""]);
  });
});

describe("HEAD", () => {
  it("tells the head of the stream in headers", async () => {
    const conversation = openConversation(baseUrl, "assistant");
    const { submissionId } = await conversation.send("hello");
    await conversation.settled(submissionId);
    const answer = await conversation.call("HEAD");
    expect([answer.status, await answer.text()]).toEqual([200, ""]);
    expect(answer.headers.get("stream-next-offset")).toBe((await conversation.history()).offset);
    expect(answer.headers.get("cache-control")).toBe("no-store");
  });
});
