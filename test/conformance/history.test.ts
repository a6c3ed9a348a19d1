/** The snapshot (RUNTIME 1.7) and the order of submissions, from outside. */
import { describe, expect, inject, it } from "vitest";
import { openConversation, readJson, replyOf, type WireError } from "../wire/conversation-client.ts";

const baseUrl = inject("berthUrl");

describe("the history of a conversation", () => {
  it("shows the message and its answer, once each", async () => {
    const conversation = openConversation(baseUrl, "assistant");
    const { submissionId } = await conversation.send("hello");
    expect(await conversation.settled(submissionId)).toEqual({ submissionId, outcome: "completed" });
    const snapshot = await conversation.history();
    expect(snapshot).toMatchObject({
      v: 1,
      conversationId: expect.any(String),
      offset: expect.stringMatching(/^0{16}_\d{16}$/),
      incarnation: expect.stringMatching(/^inc_/),
    });
    expect(snapshot.messages).toHaveLength(2);
    const [asked, answered] = snapshot.messages;
    expect(asked).toMatchObject({ role: "user", purpose: "user", display: "visible", submissionId });
    expect(asked?.parts).toEqual([{ type: "text", text: "hello", state: "done" }]);
    expect(answered).toMatchObject({ role: "assistant", purpose: "assistant", display: "visible", submissionId });
    expect(replyOf(snapshot.messages, submissionId)).not.toBe("");
  });

  it("is the default view, and is not to be cached", async () => {
    const conversation = openConversation(baseUrl, "assistant");
    await conversation.settled((await conversation.send("hello")).submissionId);
    const plain = await conversation.call("GET");
    expect(await plain.json()).toEqual(await conversation.history());
    expect(plain.headers.get("cache-control")).toBe("no-store");
    expect(plain.headers.get("x-content-type-options")).toBe("nosniff");
    expect(plain.headers.get("cross-origin-resource-policy")).toBe("cross-origin");
    expect(plain.headers.get("stream-next-offset")).toBe((await conversation.history()).offset);
  });

  it.each(["offset=-1", "tail=5", "live=sse", "view=other"])("refuses %s", async (query) => {
    const conversation = openConversation(baseUrl, "assistant");
    await conversation.send("hello");
    const answer = await conversation.call("GET", query.startsWith("view") ? `?${query}` : `?view=history&${query}`);
    expect((await readJson<WireError>(answer, 400)).error.type).toBe("invalid_request");
  });

  it("folds every step of a response into one message, its tool calls in order", async () => {
    const conversation = openConversation(baseUrl, "coder");
    const { submissionId } = await conversation.send(
      "/write notes/a.txt one two\n/edit notes/a.txt two => three\n/bash cat notes/a.txt\n/read missing.txt",
    );
    await conversation.settled(submissionId);
    const { messages } = await conversation.history();
    const answers = messages.filter((message) => message.role === "assistant");
    expect(answers).toHaveLength(1);
    const tools = (answers[0]?.parts ?? []).filter((part) => part.type === "dynamic-tool");
    expect(tools).toMatchObject([
      { toolName: "write", state: "output-available", input: { path: "notes/a.txt" } },
      { toolName: "edit", state: "output-available" },
      { toolName: "bash", state: "output-available", input: { command: "cat notes/a.txt" } },
      { toolName: "read", state: "output-error", errorText: expect.any(String) },
    ]);
    expect(JSON.stringify(tools[2])).toContain("one three");
    expect(replyOf(messages, submissionId)).not.toBe("");
  });

  it("keeps the files of one conversation out of another", async () => {
    const one = openConversation(baseUrl, "coder");
    await one.settled((await one.send("/write secret.txt mine")).submissionId);
    const other = openConversation(baseUrl, "coder");
    await other.settled((await other.send("/bash ls -a")).submissionId);
    expect(JSON.stringify((await other.history()).messages)).not.toContain("secret.txt");
  });
});

describe("messages sent while one runs", () => {
  it("join the live response at its next turn, in the order of their admission, and settle with it", async () => {
    const conversation = openConversation(baseUrl, "coder");
    const texts = ["/bash sleep 1; echo first", "/bash echo second", "/bash echo third"];
    const ids: string[] = [];
    for (const text of texts) ids.push((await conversation.send(text)).submissionId);
    for (const id of ids) expect((await conversation.settled(id)).outcome).toBe("completed");
    const { messages, settlements } = await conversation.history();
    const [host, ...joined] = ids;
    expect(settlements).toEqual([
      { submissionId: host, outcome: "completed" },
      ...joined.map((id) => ({ submissionId: id, outcome: "completed", answeredBySubmissionId: host })),
    ]);
    expect(messages.filter((message) => message.role === "user").map((message) => message.submissionId)).toEqual(ids);
    const answers = messages.filter((message) => message.role === "assistant");
    expect(answers.map((message) => message.submissionId)).toEqual([host]);
    const outputs = answers.flatMap(({ parts }) =>
      parts.map((part) => (part.type === "dynamic-tool" ? part.output : "")),
    );
    expect(outputs.filter((output) => output !== "")).toEqual(["first", "second", "third"]);
  });

  it("are all admitted and each settled once when they come at the same moment", async () => {
    const conversation = openConversation(baseUrl, "assistant");
    const sent = await Promise.all(Array.from({ length: 8 }, (_, n) => conversation.send(`hello ${n}`)));
    const ids = sent.map((receipt) => receipt.submissionId).sort();
    await Promise.all(ids.map((id) => conversation.settled(id)));
    const { settlements } = await conversation.history();
    expect(settlements.map((settlement) => settlement.submissionId).sort()).toEqual(ids);
    expect(new Set(sent.map((receipt) => receipt.uid)).size).toBe(1);
  });
});
