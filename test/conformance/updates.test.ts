/** The updates view (RUNTIME 1.6, 1.8): pages, long-poll and server-sent events, from outside. */
import { describe, expect, inject, it } from "vitest";
import type { WireChunk } from "../../durable-objects/protocol/wire.ts";
import { type ConversationClient, openConversation, readJson, type WireError } from "../wire/conversation-client.ts";
import { foldChunks } from "../wire/fold-chunks.ts";

const baseUrl = inject("berthUrl");
const WORK = "/write a.txt one\n/bash cat a.txt; echo two >&2\n/read missing.txt";

async function openSettled(text = WORK): Promise<ConversationClient> {
  const conversation = openConversation(baseUrl, "coder");
  await conversation.settled((await conversation.send(text)).submissionId);
  return conversation;
}

function isSettledIn(chunks: readonly WireChunk[], submissionId: string): boolean {
  return chunks.some((chunk) => chunk.type === "submission-settled" && chunk.submissionId === submissionId);
}

/** The fold as a snapshot shows it: `turnId` groups and says nothing of content. */
function contentOf(value: { messages: { turnId?: string }[]; settlements: unknown[] }) {
  return { messages: value.messages.map(({ turnId: _, ...rest }) => rest), settlements: value.settlements };
}

describe("the updates of a conversation", () => {
  it("add up to its history, with positions that only grow", async () => {
    const conversation = await openSettled();
    const chunks = await conversation.chunksFrom("-1");
    expect(contentOf(foldChunks(chunks))).toEqual(contentOf(await conversation.history()));
    const places = chunks.flatMap((chunk) => ("position" in chunk ? [chunk.position] : []));
    places.reduce((before, after) => {
      const grows = after.batch > before.batch || (after.batch === before.batch && after.index > before.index);
      expect(grows, `${JSON.stringify(before)} then ${JSON.stringify(after)}`).toBe(true);
      return after;
    });
  });

  it("begin every answer with the generation of the stream", async () => {
    const conversation = await openSettled();
    const { incarnation, offset } = await conversation.history();
    for (const from of ["-1", offset]) {
      const answer = await conversation.call("GET", `?view=updates&offset=${from}`);
      const [first] = await readJson<WireChunk[]>(answer, 200);
      expect(first).toEqual({ type: "stream-checkpoint", incarnation });
      expect(answer.headers.get("stream-next-offset")).toBe(offset);
      expect(answer.headers.get("stream-up-to-date")).toBe("true");
      expect(answer.headers.get("cache-control")).toBe("no-store");
    }
  });

  it("from a snapshot's offset are exactly what it does not show", async () => {
    const conversation = await openSettled();
    const snapshot = await conversation.history();
    const { submissionId } = await conversation.send("/bash echo more");
    await conversation.settled(submissionId);
    const whole = await conversation.history();
    const folded = foldChunks(await conversation.chunksFrom(snapshot.offset));
    expect(contentOf(folded).messages).toEqual(contentOf(whole).messages.slice(snapshot.messages.length));
  });

  it("come in pages that lead on without a gap", async () => {
    const conversation = await openSettled(Array.from({ length: 30 }, (_, n) => `/bash echo ${n}`).join("\n"));
    const answer = await conversation.call("GET", "?view=updates&offset=-1");
    const next = answer.headers.get("stream-next-offset");
    const page = (await readJson<WireChunk[]>(answer, 200)).slice(1);
    if (answer.headers.get("stream-up-to-date") === "true") expect(next).toBe((await conversation.history()).offset);
    expect([...page, ...(await conversation.chunksFrom(next ?? ""))]).toEqual(await conversation.chunksFrom("-1"));
  });

  it.each([
    ["no offset", "?view=updates"],
    ["two offsets", "?view=updates&offset=-1&offset=-1"],
    ["an offset that is none", "?view=updates&offset=7"],
    ["a tail", "?view=updates&offset=-1&tail=5"],
    ["an unknown live mode", "?view=updates&offset=-1&live=websocket"],
  ])("are refused with %s", async (_what, query) => {
    const conversation = await openSettled("hello");
    expect((await readJson<WireError>(await conversation.call("GET", query), 400)).error.type).toBe("invalid_request");
  });

  it.each(["", "&live=long-poll", "&live=sse"])("are gone from an offset beyond the head%s", async (live) => {
    const conversation = await openSettled("hello");
    const { offset: nextOffset } = await conversation.history();
    const offset = "0000000000000000_0000000000999999";
    const answer = await conversation.call("GET", `?view=updates&offset=${offset}${live}`);
    const { error } = await readJson<WireError>(answer, 416);
    expect(error).toMatchObject({ type: "stream_offset_gone", meta: { offset, nextOffset } });
  });
});

describe("a long-poll", () => {
  it("at the head waits for what comes next and brings it", async () => {
    const conversation = await openSettled("hello");
    const { offset } = await conversation.history();
    const waiting = conversation.call("GET", `?view=updates&offset=${offset}&live=long-poll`);
    const { submissionId } = await conversation.send("hello again");
    const chunks = await readJson<WireChunk[]>(await waiting, 200);
    expect(chunks.map((chunk) => chunk.type)).toEqual(
      expect.arrayContaining(["stream-checkpoint", "message-appended"]),
    );
    const appended = chunks.find((chunk) => chunk.type === "message-appended");
    expect(appended?.message.submissionId).toBe(submissionId);
  });

  it("behind the head answers at once", async () => {
    const conversation = await openSettled("hello");
    const answer = await conversation.call("GET", "?view=updates&offset=-1&live=long-poll");
    expect((await readJson<WireChunk[]>(answer, 200)).length).toBeGreaterThan(1);
  });
});

describe("a live stream", () => {
  it("shows a response while it comes, and adds up to the history", async () => {
    const conversation = await openSettled("hello");
    const stream = await conversation.live("-1");
    expect(stream.response.headers.get("content-type")).toContain("text/event-stream");
    const { submissionId } = await conversation.send(WORK);
    await stream.until(({ chunks }) => isSettledIn(chunks, submissionId));
    stream.close();
    expect(stream.chunks[0]?.type).toBe("stream-checkpoint");
    expect(stream.chunks.filter((chunk) => chunk.type === "stream-checkpoint")).toHaveLength(1);
    expect(contentOf(foldChunks(stream.chunks))).toEqual(contentOf(await conversation.history()));
  });

  it("closes each group of data with a control event that says where to go on", async () => {
    const conversation = await openSettled();
    const { offset } = await conversation.history();
    const stream = await conversation.live("-1");
    await stream.until(({ frames }) =>
      frames.some((frame) => frame.event === "control" && /upToDate/.test(frame.data)),
    );
    stream.close();
    const events = stream.frames.filter((frame) => frame.event !== ":");
    expect(events[0]?.event).toBe("data");
    expect(events.at(-1)?.event).toBe("control");
    const last = events.at(-1);
    expect(JSON.parse(last?.data ?? "")).toEqual({ streamNextOffset: offset, upToDate: true });
    expect(last?.id).toBe(offset);
  });

  it("goes on from any control event, and from Last-Event-ID before the address", async () => {
    const conversation = await openSettled();
    const { offset } = await conversation.history();
    const first = await conversation.live("-1");
    await first.until((reader) => reader.offset() === offset);
    first.close();
    const { submissionId } = await conversation.send("/bash echo more");
    const second = await conversation.live("-1", { "last-event-id": offset });
    await second.until(({ chunks }) => isSettledIn(chunks, submissionId));
    second.close();
    const batches = second.chunks.flatMap((chunk) => ("position" in chunk ? [chunk.position.batch] : []));
    expect(Math.min(...batches)).toBeGreaterThan(Number(offset.split("_")[1]));
    const folded = foldChunks([...first.chunks, ...second.chunks]);
    expect(contentOf(folded)).toEqual(contentOf(await conversation.history()));
  });
});
