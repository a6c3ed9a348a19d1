/** Fifty conversations at once, aborted at random, under readers that come and go. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { WireChunk } from "../../durable-objects/protocol/wire.ts";
import { scriptToken } from "../model-server/script.ts";
import { type Random, seededRandom } from "../sim/random.ts";
import { type ConversationClient, freshId, openConversation, type WireReceipt } from "../wire/conversation-client.ts";
import { foldChunks } from "../wire/fold-chunks.ts";
import { type ScriptedBerth, startScriptedBerth } from "./scripted-berth.ts";

const CONVERSATIONS = 50;
const MESSAGES = 20;
const TEST_MS = 300_000;

let scripted: ScriptedBerth;
beforeAll(async () => {
  scripted = await startScriptedBerth();
});
afterAll(() => scripted.stop());

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

function positionOf(offset: string): number {
  return Number(offset.slice(offset.lastIndexOf("_") + 1));
}

/** A checkpoint has no place of its own. */
function batchOf(chunk: WireChunk): number {
  return "position" in chunk ? chunk.position.batch : Number.POSITIVE_INFINITY;
}

/** Follows until every submission in `wanted` has settled, and hangs up after a few frames, time and again. */
async function follow(conversation: ConversationClient, random: Random, wanted: () => string[] | undefined) {
  const chunks: WireChunk[] = [];
  const settled = new Set<string>();
  let connections = 0;
  for (let offset = "-1"; !wanted()?.every((id) => settled.has(id)); connections++) {
    const stream = await conversation.live(offset);
    const frames = 2 + random.below(12);
    const end = Date.now() + 500 + random.below(2000);
    const timer = setInterval(() => Date.now() > end && stream.close(), 50);
    // A reader keeps what a control event has confirmed; what came behind it comes again.
    await stream
      .until((reader) => reader.frames.length >= frames && reader.frames.at(-1)?.event === "control")
      .catch(() => {});
    clearInterval(timer);
    stream.close();
    const next = stream.offset() ?? offset;
    const kept = stream.chunks.filter((chunk) => batchOf(chunk) <= positionOf(next));
    for (const chunk of kept) if (chunk.type === "submission-settled") settled.add(chunk.submissionId);
    chunks.push(...kept);
    offset = next;
  }
  return { chunks, connections };
}

async function play(random: Random) {
  const { berth, model } = scripted;
  const key = freshId();
  let turns = 0;
  model.script(key, async () => {
    turns++;
    await sleep(random.below(60));
    return { text: ["one ", { waitMs: random.below(120) }, "two ", `${turns}`] };
  });
  const conversation = openConversation(berth.baseUrl, "assistant", key);
  const receipts: WireReceipt[] = [];
  let all: string[] | undefined;
  const send = async () => receipts.push(await conversation.send(`message ${receipts.length} ${scriptToken(key)}`));
  await send();
  const reading = follow(conversation, random, () => all);
  let aborts = 0;
  while (receipts.length < MESSAGES) {
    await sleep(random.below(400));
    await send();
    if (random.chance(0.05) && (await conversation.abort()).aborted) aborts++;
  }
  all = receipts.map(({ submissionId }) => submissionId);
  const { chunks, connections } = await reading;
  return { conversation, receipts, aborts, chunks, connections };
}

describe("fifty conversations with twenty messages each", () => {
  it("settle every message once, and give every reader the same", { timeout: TEST_MS }, async () => {
    const random = seededRandom(4);
    let suffixes = 0;
    const seeds = Array.from({ length: CONVERSATIONS }, () => random.below(1_000_000));
    const played = await Promise.all(seeds.map((seed) => play(seededRandom(seed))));
    for (const { conversation, receipts, aborts, chunks } of played) {
      const { messages, settlements } = await conversation.history();
      const ids = receipts.map(({ submissionId }) => submissionId);
      expect(settlements.map((settlement) => settlement.submissionId).sort()).toEqual(ids.toSorted());
      expect(settlements.filter(({ outcome }) => outcome === "failed")).toEqual([]);
      if (aborts === 0) expect(settlements.filter(({ outcome }) => outcome !== "completed")).toEqual([]);
      expect(messages.filter(({ role }) => role === "user").map(({ submissionId }) => submissionId)).toEqual(ids);

      const whole = await conversation.chunksFrom("-1");
      const kept = new Set(whole.map(batchOf));
      for (const { offset } of receipts) {
        const suffix = JSON.stringify(await conversation.chunksFrom(offset));
        expect(JSON.stringify(await conversation.chunksFrom(offset)) === suffix, `${offset} again`).toBe(true);
        // A receipt may point among deltas that are gone by now: what their reader lacks is told in another way.
        if (!kept.has(positionOf(offset))) continue;
        const tail = JSON.stringify(whole.filter((chunk) => batchOf(chunk) > positionOf(offset)));
        expect(suffix === tail, `from ${offset} on`).toBe(true);
        suffixes++;
      }
      const withoutTurns = (list: typeof messages) => list.map(({ turnId: _, ...message }) => message);
      expect(withoutTurns(foldChunks(chunks).messages)).toEqual(withoutTurns(messages));
    }
    const sum = (numbers: number[]): number => numbers.reduce((a, b) => a + b, 0);
    expect(suffixes).toBeGreaterThan((CONVERSATIONS * MESSAGES) / 3);
    expect(sum(played.map(({ aborts }) => aborts))).toBeGreaterThan(CONVERSATIONS / 5);
    expect(sum(played.map(({ connections }) => connections))).toBeGreaterThan(CONVERSATIONS * 3);
  });
});
