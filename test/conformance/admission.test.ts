/** What a POST may hold, and what it gives back (RUNTIME 1.3, 1.4), from outside. */
import { describe, expect, inject, it } from "vitest";
import { openConversation, readJson, type WireError, type WireReceipt } from "../wire/conversation-client.ts";

const baseUrl = inject("berthUrl");
const OFFSET = /^0{16}_\d{16}$/;
const TOO_LARGE_BYTES = 20 * 1024 * 1024 + 1;

describe("an admitted message", () => {
  it("is answered 202 with a receipt whose offset leads to all that follows", async () => {
    const conversation = openConversation(baseUrl, "assistant");
    const answer = await conversation.post({ kind: "user", body: "hello" });
    const receipt = await readJson<WireReceipt>(answer, 202);
    expect(receipt).toEqual({
      streamUrl: conversation.url,
      offset: expect.stringMatching(OFFSET),
      submissionId: expect.stringMatching(/^sub_[0-9A-HJKMNP-TV-Z]{26}$/),
      uid: expect.stringMatching(/^inst_[0-9A-HJKMNP-TV-Z]{26}$/),
    });
    expect(answer.headers.get("location")).toBe(receipt.streamUrl);
    expect(answer.headers.get("stream-next-offset")).toBe(receipt.offset);
    await conversation.settled(receipt.submissionId);
    const chunks = await conversation.chunksFrom(receipt.offset);
    const first = chunks[0];
    expect(first?.type === "message-appended" && first.message.submissionId).toBe(receipt.submissionId);
    expect(chunks.at(-1)?.type).toBe("submission-settled");
  });

  it("leaves the query out of the stream's address", async () => {
    const conversation = openConversation(baseUrl, "assistant");
    const answer = await conversation.call("POST", "?x=1", {
      body: '{"kind":"user","body":"hello"}',
      headers: { "content-type": "application/json; charset=utf-8" },
    });
    expect((await readJson<WireReceipt>(answer, 202)).streamUrl).toBe(conversation.url);
  });

  it("belongs to the same incarnation as the ones before it", async () => {
    const conversation = openConversation(baseUrl, "assistant");
    const first = await conversation.send("one");
    const second = await conversation.send("two");
    expect(second.uid).toBe(first.uid);
    expect(second.submissionId).not.toBe(first.submissionId);
  });

  it("may be a machine's signal, which readers get as a diagnostic dispatch", async () => {
    const conversation = openConversation(baseUrl, "assistant");
    const signal = { kind: "signal", type: "deploy", body: "done <b>", attributes: { env: 'a"b' }, tagName: "note" };
    const { submissionId } = await readJson<WireReceipt>(await conversation.post(signal), 202);
    await conversation.settled(submissionId);
    const [message] = (await conversation.history()).messages;
    expect(message).toMatchObject({ purpose: "dispatch", display: "diagnostic", submissionId });
    expect(message?.signal).toMatchObject({ tagName: "note", attributes: { env: 'a"b' } });
  });
});

describe("a message that is refused", () => {
  const user = { kind: "user", body: "hello" };
  const signal = { kind: "signal", type: "deploy", body: "done" };
  const image = { type: "image", data: "aGk=", mimeType: "image/png" };

  it.each<[string, unknown]>([
    ["a bare string", "hello"],
    ["a list", [user]],
    ["null", null],
    ["no kind", { body: "hello" }],
    ["an unknown kind", { kind: "robot", body: "hello" }],
    ["no body", { kind: "user" }],
    ["a body that is no text", { kind: "user", body: 1 }],
    ["a signal without a type", { kind: "signal", body: "x" }],
    ["a signal with an empty type", { ...signal, type: "" }],
    ["a reserved signal type", { ...signal, type: "environment" }],
    ["a tag name that would break out", { ...signal, tagName: "a b" }],
    ["attributes that are no text", { ...signal, attributes: { a: 1 } }],
    ["an attachment that is no image", { ...user, attachments: [{ ...image, mimeType: "text/html" }] }],
    ["an attachment that is no base64", { ...user, attachments: [{ ...image, data: "%" }] }],
    ["initial data for one to be continued", { ...user, uid: "inst_1", initialData: 1 }],
    ["an empty idempotency key", { ...user, idempotencyKey: "" }],
    ["an idempotency key of the runtime's own", { ...user, idempotencyKey: "schedule:a:1" }],
  ])("for %s leaves nothing behind", async (_what, body) => {
    const conversation = openConversation(baseUrl, "assistant");
    const { error } = await readJson<WireError>(await conversation.post(body), 400);
    expect(error.type).toBe("invalid_request");
    expect((await conversation.call("GET")).status).toBe(404);
  });

  it("for an unknown field names the field", async () => {
    const answer = await openConversation(baseUrl, "assistant").post({ ...user, prioritee: 1 });
    const { error } = await readJson<WireError>(answer, 400);
    expect(`${error.message} ${error.details}`).toContain("prioritee");
  });

  it("for two idempotency keys that differ leaves nothing behind", async () => {
    const conversation = openConversation(baseUrl, "assistant");
    const answer = await conversation.post({ ...user, idempotencyKey: "a" }, { "idempotency-key": "b" });
    expect((await readJson<WireError>(answer, 400)).error.type).toBe("invalid_request");
    expect((await conversation.call("GET")).status).toBe(404);
  });

  it.each([
    ["another content type", "text/plain", JSON.stringify(user), 415, "unsupported_media_type"],
    ["text that is no JSON", "application/json", "{", 400, "invalid_json"],
    ["a body over the limit", "application/json", "x".repeat(TOO_LARGE_BYTES), 413, "payload_too_large"],
  ])("for %s gets the code of its own", async (_what, type, body, status, code) => {
    const answer = await openConversation(baseUrl, "assistant").call("POST", "", {
      body,
      headers: { "content-type": type },
    });
    expect((await readJson<WireError>(answer, status)).error.type).toBe(code);
  });

  it("for its length is refused without a stated length too, and the server goes on", async () => {
    const piece = new TextEncoder().encode("x".repeat(64 * 1024));
    let left = TOO_LARGE_BYTES;
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        if (left <= 0) return controller.close();
        left -= piece.length;
        controller.enqueue(piece);
      },
    });
    const init: RequestInit & { duplex: "half" } = {
      body,
      duplex: "half",
      headers: { "content-type": "application/json" },
    };
    const answer = await openConversation(baseUrl, "assistant").call("POST", "", init);
    expect((await readJson<WireError>(answer, 413)).error.type).toBe("payload_too_large");
    expect((await fetch(`${baseUrl}/health`)).status).toBe(200);
  });
});
