/** Where a transcript is cut and what a summary is made from. Source: contract RUNTIME 6. */
import type { AssistantMessage, Message } from "@earendil-works/pi-ai";
import { describe, expect, it } from "vitest";
import { clipResult } from "../../durable-objects/conversation/turn/compaction/clip-result.ts";
import { compactionLimits } from "../../durable-objects/conversation/turn/compaction/compaction-limits.ts";
import { estimateTokens } from "../../durable-objects/conversation/turn/compaction/estimate-tokens.ts";
import { findCut } from "../../durable-objects/conversation/turn/compaction/find-cut.ts";
import {
  collectFiles,
  serializeMessages,
} from "../../durable-objects/conversation/turn/compaction/serialize-messages.ts";
import { splitBlocks } from "../../durable-objects/conversation/turn/compaction/summarize.ts";
import type { TranscriptEntry } from "../../durable-objects/conversation/turn/transcript.ts";
import { emptyMessage } from "../../durable-objects/models/empty-message.ts";
import { seededRandom } from "../sim/random.ts";

const user = (text: string): Message => ({ role: "user", content: text, timestamp: 0 });
const result = (id: string, text: string): Message & { role: "toolResult" } => ({
  ...{ role: "toolResult", toolCallId: id, toolName: "bash", isError: false, timestamp: 0 },
  content: [{ type: "text", text }],
});

function assistant(...calls: [name: string, args: Record<string, string>][]): AssistantMessage {
  const content = calls.map(([name, args], i) => ({ type: "toolCall" as const, id: `c${i}`, name, arguments: args }));
  return { ...emptyMessage({ id: "m", api: "a", provider: "p" } as never, "stop", 0), content };
}

let seq = 0;
const input = (tokens: number): TranscriptEntry => ({
  ...{ seq: ++seq, isInput: true },
  messages: [user("x".repeat(tokens * 4))],
});
const step = (tokens: number): TranscriptEntry => ({
  ...{ seq: ++seq, isInput: false },
  messages: [assistant(["bash", {}]), result("c0", "x".repeat(tokens * 4))],
});

describe("the limits of a context", () => {
  const model = (contextWindow: number, maxTokens: number) => ({ contextWindow, maxTokens }) as never;

  it.each([
    [200_000, 64_000, 20_000],
    [200_000, 8_192, 8_192],
    [200_000, 0, 20_000],
    [30_000, 20_000, 10_000],
    [2_000, 20_000, 1_024],
  ])("of a window of %d with %d of output reserve %d", (window, output, reserve) => {
    expect(compactionLimits(model(window, output), undefined).reserveTokens).toBe(reserve);
  });

  it("are the agent's own where it names them", () => {
    const limits = compactionLimits(model(200_000, 8_192), { reserveTokens: 5, keepRecentTokens: 7 });
    expect(limits).toMatchObject({ reserveTokens: 5, keepTokens: 7, hasThreshold: true });
    expect(compactionLimits(model(200_000, 8_192), false).hasThreshold).toBe(false);
  });
});

describe("a cut", () => {
  it("keeps the newest entries of at least so many tokens", () => {
    const entries = [input(10), step(5_000), input(10), step(5_000), step(5_000)];
    expect(findCut(entries, 8_000, 2, 0)).toEqual({ keptFrom: 3, turnFrom: 2 });
  });

  it("cuts no turn apart where a message begins what is kept", () => {
    expect(findCut([input(10), step(100), input(9_000)], 8_000, 2, 0)).toEqual({ keptFrom: 2, turnFrom: 2 });
  });

  it("takes everything before the running request where all is less than what is kept", () => {
    expect(findCut([input(1), step(1), input(1)], 8_000, 2, 0)).toEqual({ keptFrom: 2, turnFrom: 2 });
    expect(findCut([input(1), step(1)], 8_000, 0, 0)).toBeUndefined();
  });

  it("never falls among messages that were carried over a compaction", () => {
    const entries = [input(9_000), input(9_000), step(10)];
    expect(findCut(entries, 8_000, 0, 2)).toBeUndefined();
  });

  it("stands between entries and leaves a part that shrinks, whatever the transcript", () => {
    for (let seed = 1; seed <= 500; seed++) {
      const random = seededRandom(seed);
      const entries = Array.from({ length: 1 + random.below(20) }, () =>
        random.chance(0.3) ? input(random.below(3_000)) : step(random.below(3_000)),
      );
      const firstRunning = entries.findLastIndex((entry) => entry.isInput);
      const cut = findCut(entries, 4_000, firstRunning, 0);
      if (!cut) continue;
      expect(cut.keptFrom).toBeGreaterThan(0);
      expect(cut.keptFrom).toBeLessThan(entries.length);
      expect(cut.turnFrom).toBeLessThanOrEqual(cut.keptFrom);
      const kept = entries.slice(cut.keptFrom).reduce((sum, entry) => sum + estimateTokens(entry.messages), 0);
      expect(kept >= 4_000 || cut.keptFrom === firstRunning).toBe(true);
    }
  });
});

describe("what is summarised", () => {
  it("is told with its roles, calls and cut results", () => {
    const messages = [user("do it"), assistant(["read", { path: "a.txt" }]), result("c0", "y".repeat(3_000))];
    expect(serializeMessages(messages)).toEqual([
      "[User]: do it",
      '[Assistant tool calls]: read({"path":"a.txt"})',
      `[Tool result]: ${"y".repeat(2_000)}\n[1000 more characters]`,
    ]);
  });

  it("names the files that were read and changed", () => {
    const files = { read: new Set<string>(), modified: new Set<string>() };
    collectFiles(
      [assistant(["read", { path: "a" }], ["write", { path: "b" }], ["edit", { path: "c" }], ["bash", {}])],
      files,
    );
    expect([[...files.read], [...files.modified]]).toEqual([["a"], ["b", "c"]]);
  });

  it("is folded in parts that fit, without losing a block", () => {
    const blocks = ["a".repeat(400), "b".repeat(400), "c".repeat(4_000)];
    const parts = splitBlocks(blocks, 200);
    expect(parts).toEqual([`${blocks[0]}\n\n${blocks[1]}`, `${"c".repeat(800)}\n[cut]`]);
    expect(splitBlocks([], 200)).toEqual([]);
  });
});

describe("a result too large for what is kept", () => {
  it("shows its head and its tail with a note, and never half a character", () => {
    const text = `${"h".repeat(74)}🙂${"m".repeat(1_000)}${"t".repeat(25)}`;
    const [part] = clipResult(result("c", text), 100).content;
    const shown = part?.type === "text" ? part.text : "";
    expect(shown.isWellFormed()).toBe(true);
    expect(shown).toMatch(/^h{74}.\n\n\[1001 characters of this result were left out .*\]\n\nt{25}$/s);
  });

  it("stays as it is when it is no larger", () => {
    const small = result("c", "small");
    expect(clipResult(small, 100)).toBe(small);
  });
});
