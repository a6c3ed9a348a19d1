import { describe, expect, inject, it } from "vitest";
import type { WireMessage, WireSettlement, WireSnapshot } from "../../durable-objects/protocol/wire.ts";
import { openConversation, readJson, type WireError, type WireReceipt } from "../wire/conversation-client.ts";

const baseUrl = inject("berthUrl");
const user = (body: string) => ({ kind: "user", body });
/** One pixel. */
const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

type Receipt = WireReceipt & { deduplicated?: true };

async function send(conversation: ReturnType<typeof openConversation>, body: unknown): Promise<Receipt> {
  return readJson<Receipt>(await conversation.post(body), 202);
}

describe("an idempotency key", () => {
  it("gives the first receipt again, and the message is there once", async () => {
    const conversation = openConversation(baseUrl, "assistant");
    const keyed = { ...user("hello"), idempotencyKey: "k1", uid: null };
    const first = await send(conversation, keyed);
    const again = await send(conversation, keyed);
    expect(again).toEqual({ ...first, deduplicated: true });
    await conversation.settled(first.submissionId);
    // Keys of an object in another order are the same message.
    const later = await send(conversation, { idempotencyKey: "k1", body: "hello", uid: null, kind: "user" });
    expect(later).toEqual({ ...first, deduplicated: true });
    const users = (await conversation.history()).messages.filter((message) => message.role === "user");
    expect(users).toHaveLength(1);
  });

  it("means the same in body and header, and belongs to its conversation", async () => {
    const [one, other] = [openConversation(baseUrl, "assistant"), openConversation(baseUrl, "assistant")];
    const first = await send(one, { ...user("hello"), idempotencyKey: "k" });
    const byHeader = await readJson<Receipt>(await one.post(user("hello"), { "idempotency-key": "k" }), 202);
    expect(byHeader.deduplicated).toBe(true);
    const elsewhere = await send(other, { ...user("hello"), idempotencyKey: "k" });
    expect(elsewhere.submissionId).not.toBe(first.submissionId);
  });

  it("under another message is a conflict that names the first", async () => {
    const conversation = openConversation(baseUrl, "assistant");
    const first = await send(conversation, { ...user("hello"), idempotencyKey: "k" });
    for (const body of [
      user("other"),
      { kind: "signal", type: "t", body: "hello" },
      { ...user("hello"), initialData: 1 },
    ]) {
      const { error } = await readJson<WireError>(await conversation.post({ ...body, idempotencyKey: "k" }), 409);
      expect(error).toMatchObject({ type: "submission_conflict", meta: { submissionId: first.submissionId } });
    }
  });

  it("admits one of twenty that come at once", async () => {
    const conversation = openConversation(baseUrl, "assistant");
    const keyed = { ...user("hello"), idempotencyKey: "k" };
    const receipts = await Promise.all(Array.from({ length: 20 }, () => send(conversation, keyed)));
    expect(new Set(receipts.map((receipt) => receipt.submissionId)).size).toBe(1);
    expect(receipts.filter((receipt) => !receipt.deduplicated)).toHaveLength(1);
  });
});

describe("a send condition", () => {
  it("creates only what is not there, and continues only what is", async () => {
    const conversation = openConversation(baseUrl, "assistant");
    const gone = await readJson<WireError>(await conversation.post({ ...user("x"), uid: "inst_nope" }), 404);
    expect(gone.error.type).toBe("agent_instance_not_found");
    expect((await conversation.call("GET")).status).toBe(404);
    const { uid } = await send(conversation, { ...user("x"), uid: null });
    const exists = await readJson<WireError>(await conversation.post({ ...user("x"), uid: null }), 409);
    expect(exists.error).toMatchObject({ type: "agent_instance_exists", meta: { uid } });
    expect((await send(conversation, { ...user("y"), uid })).uid).toBe(uid);
    expect((await conversation.post({ ...user("z"), uid: "inst_other" })).status).toBe(404);
  });
});

describe("an attachment", () => {
  it("comes back byte for byte, for ever, and only in its conversation", async () => {
    const conversation = openConversation(baseUrl, "assistant");
    const attachments = [{ type: "image", data: PNG, mimeType: "image/png", filename: "pixel.png" }];
    const { submissionId } = await send(conversation, { ...user("look"), attachments });
    await conversation.settled(submissionId);
    const [message] = (await conversation.history()).messages;
    const id = `att_image_${submissionId}_0`;
    const size = Buffer.from(PNG, "base64").length;
    expect(message?.parts).toEqual([
      { type: "text", text: "look", state: "done" },
      { type: "file", mediaType: "image/png", id, size, filename: "pixel.png" },
    ]);
    const answer = await conversation.call("GET", `/attachments/${id}`);
    expect(answer.status).toBe(200);
    expect(Buffer.from(await answer.arrayBuffer()).toString("base64")).toBe(PNG);
    expect(answer.headers.get("content-security-policy")).toBe("sandbox");
    expect(answer.headers.get("cache-control")).toContain("immutable");
    const other = openConversation(baseUrl, "assistant");
    expect((await other.call("GET", `/attachments/${id}`)).status).toBe(404);
    await send(other, user("hi"));
    const missing = await readJson<WireError>(await other.call("GET", `/attachments/${id}`), 404);
    expect(missing.error.type).toBe("attachment_not_found");
  });
});

describe("?wait=", () => {
  it("answers with the settlement and the message when it was in time", async () => {
    const conversation = openConversation(baseUrl, "assistant");
    const answer = await conversation.call("POST", "?wait=30", {
      body: JSON.stringify(user("hello")),
      headers: { "content-type": "application/json" },
    });
    const settled = await readJson<WireReceipt & { settlement: WireSettlement; message: WireMessage }>(answer, 200);
    expect(settled.settlement).toEqual({ submissionId: settled.submissionId, outcome: "completed" });
    expect(settled.message.role).toBe("assistant");
    expect((await conversation.history()).messages.at(-1)).toEqual(settled.message);
  });

  it("answers with the ordinary receipt when it was not, and the work goes on", async () => {
    const conversation = openConversation(baseUrl, "coder");
    const answer = await conversation.call("POST", "?wait=1", {
      body: JSON.stringify(user("/bash sleep 2")),
      headers: { "content-type": "application/json" },
    });
    const { submissionId } = await readJson<WireReceipt>(answer, 202);
    expect((await conversation.settled(submissionId)).outcome).toBe("completed");
  });
});

describe("a page of history", () => {
  it("put together from the newest to the oldest, is the whole history", async () => {
    const conversation = openConversation(baseUrl, "coder");
    for (let i = 0; i < 4; i++) await conversation.settled((await conversation.send(`/bash echo ${i}`)).submissionId);
    const { messages } = await conversation.history();
    for (const limit of [1, 2, 3, 8, 50]) {
      const collected: WireMessage[] = [];
      for (let before = ""; ; ) {
        const query = `?view=history&limit=${limit}${before && `&before=${before}`}`;
        const page = await readJson<WireSnapshot & { hasMore: boolean }>(await conversation.call("GET", query), 200);
        collected.unshift(...page.messages);
        expect(page.messages.length).toBeLessThanOrEqual(limit);
        before = page.messages[0]?.id ?? "";
        if (!page.hasMore) break;
      }
      expect(collected).toEqual(messages);
    }
    expect((await conversation.call("GET", "?before=msg_in_nope")).status).toBe(400);
  });
});

describe("the queue", () => {
  it("shows what runs and what becomes of each", async () => {
    const conversation = openConversation(baseUrl, "coder");
    const running = await conversation.send("/bash sleep 1");
    const queue = await readJson<{ running: { submissionId: string } | null }>(
      await conversation.call("GET", "/queue"),
      200,
    );
    expect(queue.running?.submissionId).toBe(running.submissionId);
    await conversation.settled(running.submissionId);
    const one = await conversation.call("GET", `/submissions/${running.submissionId}`);
    expect(await readJson(one, 200)).toMatchObject({ state: "settled", outcome: "completed", attempts: 1 });
    expect((await conversation.call("GET", "/submissions/sub_nope")).status).toBe(404);
    expect(await readJson(await conversation.call("GET", "/queue"), 200)).toMatchObject({
      running: null,
      joined: [],
      queued: [],
      usage: { totalTokens: expect.any(Number), cost: expect.any(Number) },
    });
  });
});

describe("a deletion", () => {
  it("leaves nothing, ends what runs, and the next message begins anew", async () => {
    const conversation = openConversation(baseUrl, "coder");
    expect((await conversation.call("DELETE")).status).toBe(404);
    const first = await send(conversation, { ...user("/write kept.txt x"), idempotencyKey: "k" });
    await conversation.settled(first.submissionId);
    const reader = await conversation.live("-1");
    await conversation.send("/bash sleep 30");
    expect((await conversation.call("DELETE")).status).toBe(204);
    expect((await conversation.call("GET")).status).toBe(404);
    expect((await conversation.call("HEAD")).status).toBe(404);
    reader.close();
    const again = await send(conversation, { ...user("/read kept.txt"), idempotencyKey: "k" });
    expect(again.uid).not.toBe(first.uid);
    expect(again.deduplicated).toBeUndefined();
    await conversation.settled(again.submissionId);
    const snapshot = await conversation.history();
    expect(snapshot.settlements).toHaveLength(1);
    expect(JSON.stringify(snapshot.messages)).toContain("ENOENT");
  });
});
