/**
 * Cuts tool text to its caps. A cut never splits a surrogate pair (D1), so that tool text is well-formed Unicode.
 *
 * "units" are UTF-16 code units. Source: contract TOOLS 3, 7, 8, D1, D8, D27.
 */
import type { DroppedOutput } from "../../containers/exec-result.ts";
import { MAX_GREP_LINE_UNITS, MAX_READ_LINES, MAX_READ_UNITS } from "../protocol/limits.ts";

/** Whether the place before `index` lies between the two halves of one character. */
function splitsPair(text: string, index: number): boolean {
  if (index <= 0 || index >= text.length) return false;
  const code = text.codePointAt(index - 1) ?? 0;
  return code > 0xffff;
}

/** The first `units` of the text, one less where that would split a pair. */
export function firstUnits(text: string, units: number): string {
  return text.slice(0, splitsPair(text, units) ? units - 1 : units);
}

/** The last `units` of the text, one less where that would split a pair. */
export function lastUnits(text: string, units: number): string {
  const start = Math.max(0, text.length - units);
  return text.slice(splitsPair(text, start) ? start + 1 : start);
}

export interface Head {
  /** The lines that fit, whole. */
  lines: readonly string[];
  truncated: boolean;
}

/** As many whole lines from the front as the caps allow; a line costs its units, and one for the newline before it. */
export function truncateHead(lines: readonly string[], maxLines = MAX_READ_LINES, maxUnits = MAX_READ_UNITS): Head {
  let total = 0;
  for (const [index, line] of lines.entries()) {
    total += line.length + (index === 0 ? 0 : 1);
    if (index === maxLines || total > maxUnits) return { lines: lines.slice(0, index), truncated: true };
  }
  return { lines, truncated: false };
}

export interface TailOptions {
  maxLines?: number;
  maxUnits?: number;
  /** What stood in front of the text and was never held. */
  dropped?: DroppedOutput | undefined;
}

/** The end of the text within the caps; a cut is told in front of it (D8), and the unit cap is told when both apply. */
export function truncateTail(
  text: string,
  { maxLines = MAX_READ_LINES, maxUnits = MAX_READ_UNITS, dropped }: TailOptions = {},
): string {
  const lines = text.split("\n");
  const tail = lines.length > maxLines ? lines.slice(-maxLines).join("\n") : text;
  // Units where all of it is held, else code points, as the sandbox counts.
  const characters = () => (dropped ? countCodePoints(text) + dropped.characters : text.length);
  if (tail.length > maxUnits) {
    return `[Showing the last ${maxUnits} of ${characters()} characters.]\n\n${lastUnits(tail, maxUnits)}`;
  }
  if (lines.length > maxLines) {
    return `[Showing the last ${maxLines} of ${lines.length + (dropped?.lines ?? 0)} lines.]\n\n${tail}`;
  }
  return dropped ? `[Showing the last ${tail.length} of ${characters()} characters.]\n\n${tail}` : tail;
}

function countCodePoints(text: string): number {
  let count = 0;
  for (let index = 0; index < text.length; index++) if (!splitsPair(text, index)) count++;
  return count;
}

/** A line of a search result, cut with `...` behind it. */
export function clipLine(line: string, maxUnits = MAX_GREP_LINE_UNITS): string {
  return line.length > maxUnits ? `${firstUnits(line, maxUnits)}...` : line;
}

/** Without leading blank lines and trailing white space; the first line keeps its indentation (D27). */
export function trimOutput(text: string): string {
  return text.replace(/^(?:[^\S\n]*\n)+/, "").trimEnd();
}
