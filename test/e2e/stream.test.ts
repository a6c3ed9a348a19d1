/** Readers of a live stream: deltas as the model gives them, and readers that come, go and come back. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { WireChunk } from "../../durable-objects/protocol/wire.ts";
import { scriptToken } from "../model-server/script.ts";
import { openConversation } from "../wire/conversation-client.ts";
import { foldChunks } from "../wire/fold-chunks.ts";
import { type ScriptedBerth, startScriptedBerth } from "./scripted-berth.ts";

let scripted: ScriptedBerth;
beforeAll(async () => {
  scripted = await startScriptedBerth();
});
afterAll(() => scripted.stop());

const WORDS = Array.from({ length: 40 }, (_, n) => `word${n} `);

function textOf(chunks: readonly WireChunk[]): string {
  return foldChunks(chunks)
    .messages.filter((message) => message.role === "assistant")
    .flatMap((message) => message.parts)
    .map((part) => (part.type === "text" && "text" in part ? part.text : ""))
    .join("");
}

function isSettled(chunks: readonly WireChunk[]): boolean {
  return chunks.some((chunk) => chunk.type === "submission-settled");
}

describe("a live stream", () => {
  it("shows the first words while the model still speaks", async () => {
    const { berth, model } = scripted;
    const gate = Promise.withResolvers<void>();
    model.script("early", [{ text: ["first words", { gate: gate.promise }, ", last words"] }]);
    const conversation = openConversation(berth.baseUrl, "assistant");
    const { offset } = await conversation.send(`go ${scriptToken("early")}`);
    const stream = await conversation.live(offset);
    await stream.until(({ chunks }) => textOf(chunks) === "first words");
    gate.resolve();
    await stream.until(({ chunks }) => isSettled(chunks));
    stream.close();
    expect(textOf(stream.chunks)).toBe("first words, last words");
  });

  it("read in pieces, from control event to control event, gives every word once", async () => {
    const { berth, model } = scripted;
    const gates = WORDS.map(() => Promise.withResolvers<void>());
    const text = WORDS.flatMap((word, n) => [{ gate: gates[n]?.promise ?? Promise.resolve() }, word]);
    model.script("pieces", [{ text }]);
    const conversation = openConversation(berth.baseUrl, "assistant");
    let { offset } = await conversation.send(`go ${scriptToken("pieces")}`);
    const chunks: WireChunk[] = [];
    for (const [n, gate] of gates.entries()) {
      gate.resolve();
      if (n % 8 !== 7) continue;
      const wanted = n === gates.length - 1 ? WORDS.join("") : `word${n} `;
      const stream = await conversation.live(offset);
      await stream.until((reader) => textOf([...chunks, ...reader.chunks]).includes(wanted));
      await stream.until((reader) => reader.frames.at(-1)?.event === "control");
      stream.close();
      chunks.push(...stream.chunks);
      offset = stream.offset() ?? offset;
    }
    const stream = await conversation.live(offset);
    await stream.until((reader) => isSettled([...chunks, ...reader.chunks]));
    stream.close();
    const { messages } = foldChunks([...chunks, ...stream.chunks]);
    expect(messages.map(({ turnId: _, ...message }) => message)).toEqual(
      (await conversation.history()).messages.map(({ turnId: _, ...message }) => message),
    );
    expect(textOf([...chunks, ...stream.chunks])).toBe(WORDS.join(""));
  });

  it("gives a reader who stood among deltas that are gone the whole message once", async () => {
    const { berth, model } = scripted;
    const gate = Promise.withResolvers<void>();
    model.script("gone", [{ text: ["seen by the reader", { gate: gate.promise }, ", and the rest"] }]);
    const conversation = openConversation(berth.baseUrl, "assistant");
    const { offset, submissionId } = await conversation.send(`go ${scriptToken("gone")}`);
    const first = await conversation.live(offset);
    await first.until(({ chunks }) => textOf(chunks) === "seen by the reader");
    await first.until(({ frames }) => frames.at(-1)?.event === "control");
    first.close();
    gate.resolve();
    await conversation.settled(submissionId);
    const rest = await conversation.chunksFrom(first.offset() ?? offset);
    const { messages } = foldChunks([...first.chunks, ...rest]);
    expect(messages).toHaveLength(2);
    expect(textOf([...first.chunks, ...rest])).toBe("seen by the reader, and the rest");
  });
});
