/** The readers the suites trust: frames of an event stream, and the fold of chunks into a conversation. */
import { describe, expect, it } from "vitest";
import type { WireChunk } from "../../durable-objects/protocol/wire.ts";
import { type EventFrame, readEventStream } from "../wire/event-stream.ts";
import { foldChunks } from "../wire/fold-chunks.ts";

function bodyOf(...pieces: string[]): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      for (const piece of pieces) controller.enqueue(new TextEncoder().encode(piece));
      controller.close();
    },
  });
}

async function collect(body: ReadableStream<Uint8Array>): Promise<EventFrame[]> {
  const frames: EventFrame[] = [];
  for await (const frame of readEventStream(body)) frames.push(frame);
  return frames;
}

describe("the event stream reader", () => {
  it("finds frames wherever the bytes are cut", async () => {
    const text = ': heartbeat\n\nevent: data\ndata: [1,\ndata: 2]\r\n\r\nid: 7\nevent: control\ndata: {"a":"é"}\n\n';
    const bytes = [...new TextEncoder().encode(text)];
    const stream = new ReadableStream<Uint8Array>({
      start(controller) {
        for (const byte of bytes) controller.enqueue(new Uint8Array([byte]));
        controller.close();
      },
    });
    const frames = await collect(stream);
    expect(frames).toEqual([
      { event: ":", data: "heartbeat" },
      { event: "data", data: "[1,\n2]" },
      { event: "control", data: '{"a":"é"}', id: "7" },
    ]);
  });

  it("gives no frame for one that was never closed", async () => {
    expect(await collect(bodyOf("event: data\ndata: 1\n"))).toEqual([]);
  });
});

const head = { conversationId: "c" };

describe("the fold of chunks", () => {
  const chunks: WireChunk[] = [
    { type: "stream-checkpoint", incarnation: "inc_1" },
    { ...head, type: "message-started", messageId: "m", submissionId: "s", position: { batch: 1, index: 0 } },
    { ...head, type: "message-delta", messageId: "m", kind: "text", delta: "a", position: { batch: 1, index: 1 } },
    { ...head, type: "message-delta", messageId: "m", kind: "text", delta: "b", position: { batch: 2, index: 0 } },
    {
      ...head,
      type: "tool-input",
      messageId: "m",
      toolCallId: "t",
      toolName: "bash",
      input: {},
      position: { batch: 3, index: 0 },
    },
    { ...head, type: "message-completed", messageId: "m", position: { batch: 3, index: 1 } },
    { ...head, type: "tool-output", toolCallId: "t", output: "x", position: { batch: 4, index: 0 } },
    { ...head, type: "message-delta", messageId: "m", kind: "text", delta: "c", position: { batch: 5, index: 0 } },
    {
      ...head,
      type: "submission-settled",
      submissionId: "s",
      outcome: "completed",
      position: { batch: 6, index: 0 },
    },
  ];

  it("gathers every step of a response into its one message", () => {
    const { messages, settlements } = foldChunks(chunks);
    expect(messages).toHaveLength(1);
    expect(messages[0]?.parts).toEqual([
      { type: "text", text: "ab", state: "done" },
      { type: "dynamic-tool", toolName: "bash", toolCallId: "t", state: "output-available", input: {}, output: "x" },
      { type: "text", text: "c", state: "streaming" },
    ]);
    expect(settlements).toEqual([{ submissionId: "s", outcome: "completed" }]);
  });

  it("is the same when a part of the stream is read twice", () => {
    expect(foldChunks([...chunks.slice(0, 4), ...chunks.slice(2)])).toEqual(foldChunks(chunks));
  });
});
