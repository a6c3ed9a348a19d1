/** Abort (RUNTIME 1.10), from outside. */
import { describe, expect, inject, it } from "vitest";
import { openConversation } from "../wire/conversation-client.ts";

const baseUrl = inject("berthUrl");

describe("an abort", () => {
  it("of an idle conversation says so and changes nothing", async () => {
    const conversation = openConversation(baseUrl, "assistant");
    const { submissionId } = await conversation.send("hello");
    await conversation.settled(submissionId);
    const before = await conversation.history();
    expect(await conversation.abort()).toEqual({ aborted: false });
    expect(await conversation.history()).toEqual(before);
  });

  it("ends what runs and all that waits, once each, and the next message is answered", async () => {
    const conversation = openConversation(baseUrl, "coder");
    const running = await conversation.send("/bash sleep 60");
    const stream = await conversation.live("-1");
    await stream.until(({ chunks }) => chunks.some((chunk) => chunk.type === "tool-input"));
    const queued = [await conversation.send("/bash echo one"), await conversation.send("/bash echo two")];
    expect(await conversation.abort()).toEqual({ aborted: true });
    const all = [running, ...queued].map((receipt) => receipt.submissionId);
    await stream.until(
      ({ chunks }) => chunks.filter((chunk) => chunk.type === "submission-settled").length === all.length,
    );
    stream.close();
    const { settlements, messages } = await conversation.history();
    expect(settlements.map((settlement) => [settlement.submissionId, settlement.outcome])).toEqual(
      all.map((id) => [id, "aborted"]),
    );
    expect(settlements[0]?.error?.type).toBe("submission_aborted");
    // The input of a message that never ran is recorded with its settlement (RUNTIME 2.2).
    expect(messages.filter((message) => message.role === "user").map((message) => message.submissionId)).toEqual(all);
    const next = await conversation.send("/bash echo after");
    expect((await conversation.settled(next.submissionId)).outcome).toBe("completed");
  });

  it("that comes too late leaves a completed response as it is", async () => {
    const conversation = openConversation(baseUrl, "assistant");
    const { submissionId } = await conversation.send("hello");
    await conversation.settled(submissionId);
    await conversation.abort();
    expect((await conversation.history()).settlements).toEqual([{ submissionId, outcome: "completed" }]);
  });
});
