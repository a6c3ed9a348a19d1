import { describe, expect, it } from "vitest";
import {
  clipLine,
  firstUnits,
  lastUnits,
  trimOutput,
  truncateHead,
  truncateTail,
} from "../../durable-objects/tools/truncate.ts";

/** A small generator with a seed, so that a failure can be found again. */
function numbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return state % below;
  };
}

const ALPHABET = ["a", "é", "漢", "😀", "\r", " "];

function randomLines(next: (below: number) => number): string[] {
  return Array.from({ length: next(8) + 1 }, () =>
    Array.from({ length: next(7) }, () => ALPHABET[next(ALPHABET.length)]).join(""),
  );
}

/** As slow and plain as can be: the longest front that is within both caps. */
function headOracle(lines: string[], maxLines: number, maxUnits: number): string[] {
  for (let count = Math.min(lines.length, maxLines); count > 0; count--) {
    const front = lines.slice(0, count);
    if (front.join("\n").length <= maxUnits) return front;
  }
  return [];
}

function tailOracle(text: string, maxLines: number, maxUnits: number): string {
  const kept = text.split("\n").slice(-maxLines).join("\n");
  for (let start = Math.max(0, kept.length - maxUnits); ; start++) {
    if (kept.slice(start).isWellFormed()) return kept.slice(start);
  }
}

const rounds = Array.from({ length: 300 }, (_, seed) => seed + 1);

describe("truncateHead", () => {
  it("keeps the longest front of whole lines within both caps", () => {
    for (const seed of rounds) {
      const next = numbers(seed);
      const lines = randomLines(next);
      const [maxLines, maxUnits] = [next(6) + 1, next(20) + 1];
      const expected = headOracle(lines, maxLines, maxUnits);
      const head = truncateHead(lines, maxLines, maxUnits);
      expect([seed, head.lines, head.truncated]).toEqual([seed, expected, expected.length < lines.length]);
    }
  });
});

describe("truncateTail", () => {
  it("keeps the end within both caps, never half a character, and tells what it cut", () => {
    for (const seed of rounds) {
      const next = numbers(seed);
      const text = randomLines(next).join("\n");
      const [maxLines, maxUnits] = [next(6) + 1, next(20) + 2];
      const kept = tailOracle(text, maxLines, maxUnits);
      const tail = truncateTail(text, { maxLines, maxUnits });
      expect([seed, tail.isWellFormed()]).toEqual([seed, true]);
      expect([seed, tail.endsWith(kept), tail.length > kept.length]).toEqual([seed, true, kept.length < text.length]);
    }
  });

  it("tells the unit cap when both apply", () => {
    expect(truncateTail("aaaa\nbbbb\ncccc", { maxLines: 2, maxUnits: 6 })).toBe(
      "[Showing the last 6 of 14 characters.]\n\nb\ncccc",
    );
    expect(truncateTail("aaaa\nbbbb\ncccc", { maxLines: 2, maxUnits: 9 })).toBe(
      "[Showing the last 2 of 3 lines.]\n\nbbbb\ncccc",
    );
  });

  it("leaves text at the caps alone", () => {
    expect(truncateTail("ab\ncd", { maxLines: 2, maxUnits: 5 })).toBe("ab\ncd");
  });
});

describe("a cut inside a character", () => {
  it("steps back one unit at either end", () => {
    expect(firstUnits("a😀b", 2)).toBe("a");
    expect(firstUnits("a😀b", 3)).toBe("a😀");
    expect(lastUnits("a😀b", 2)).toBe("b");
    expect(lastUnits("a😀b", 3)).toBe("😀b");
  });

  it("does not end a clipped line on half a character", () => {
    expect(clipLine("a😀b", 2)).toBe("a...");
    expect(clipLine("abc", 3)).toBe("abc");
  });
});

describe("trimOutput", () => {
  it("drops leading blank lines and trailing white space but keeps the first line's indentation", () => {
    expect(trimOutput(" \n\t\r\n    if x:\n      y\n \n")).toBe("    if x:\n      y");
    expect(trimOutput("  \n\t\n")).toBe("");
  });
});
