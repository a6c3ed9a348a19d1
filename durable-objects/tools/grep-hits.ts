/**
 * Reads the answer of a search program and renders it: sorted by path and line, capped, clipped.
 *
 * `path NUL line:text` where the program names paths so, else plain lines. A line that reports a binary file is brought to
 * one form on every backend (D6).
 *
 * Source: contract TOOLS 8, D6, D15, D16, D27.
 */
import { MAX_GREP_MATCHES } from "../protocol/limits.ts";
import { compareBytes, parseCountedLines, plainPath, readShownPath, showPath } from "./search-pipeline.ts";
import { clipLine, trimOutput } from "./truncate.ts";

interface Hit {
  path: string;
  /** 0 where the answer names no line. */
  line: number;
  /** What stands behind the path. */
  rest: string;
  /** The program set the path off by a NUL, so that it is no guess and may be quoted. */
  exact: boolean;
}

export interface Hits {
  hits: Hit[];
  total: number;
}

/** The place of a note on a binary file: behind the lines of the file. */
const BINARY_LINE = Number.MAX_SAFE_INTEGER;
const BINARY_NOTE = /^(?:grep: )?(.+): binary file matches(?: \(found .*\))?$/;
const NAMED_HIT = /^(.*?):(\d+):/;

/** `path` is the one asked for: it is shown as written, without what keeps a program from misreading it (D3). */
export function parseHits(stdout: string, path: string): Hits {
  const counted = parseCountedLines(stdout);
  const exact = counted.total !== undefined;
  const lines = exact ? counted.lines : trimOutput(stdout).split("\n");
  const parsed = (stdout.includes("\0") ? parseNamed(lines) : lines.map(parseLine)).map(withPathAsWritten(path));
  // A name with a newline makes one hit of two lines.
  const total = exact ? (counted.total ?? 0) - (lines.length - parsed.length) : parsed.length;
  const noted = withoutNeedlessNotes(parsed);
  return { hits: sortHits(noted), total: total - (parsed.length - noted.length) };
}

/** Lines up to a NUL are a path; the first without one, where none is pending, is a line of its own. */
function parseNamed(lines: readonly string[]): Hit[] {
  const hits: Hit[] = [];
  let pending = "";
  for (const line of lines) {
    const end = line.indexOf("\0");
    if (end === -1) {
      if (pending === "" && BINARY_NOTE.test(line)) hits.push(parseLine(line));
      else pending += `${line}\n`;
      continue;
    }
    const path = pending + line.slice(0, end);
    const rest = line.slice(end + 1);
    hits.push({ path, line: Number.parseInt(rest, 10) || 0, rest: `:${rest}`, exact: true });
    pending = "";
  }
  return hits;
}

/** Without a NUL the end of the path is a guess: the first `:number:`. A line without one is all `rest`. */
function parseLine(line: string): Hit {
  const [, shown, number] = NAMED_HIT.exec(line) ?? [];
  if (shown !== undefined) {
    const path = readShownPath(shown);
    return { path, line: Number(number), rest: line.slice(shown.length), exact: path !== shown };
  }
  const noted = BINARY_NOTE.exec(line)?.[1];
  if (noted !== undefined) return { path: noted, line: BINARY_LINE, rest: ": binary file matches", exact: true };
  return { path: "", line: 0, rest: line, exact: false };
}

function withPathAsWritten(path: string): (hit: Hit) => Hit {
  const searched = plainPath(path);
  if (searched === path) return (hit) => hit;
  return (hit) => (hit.path.startsWith(searched) ? { ...hit, path: path + hit.path.slice(searched.length) } : hit);
}

/** The note tells of a file nothing else tells of; grep also gives it behind printed lines of a file. */
function withoutNeedlessNotes(hits: readonly Hit[]): Hit[] {
  const printed = new Set(hits.filter((hit) => hit.line !== BINARY_LINE).map((hit) => hit.path));
  return hits.filter((hit) => hit.line !== BINARY_LINE || !printed.has(hit.path));
}

/** By path, then by line. An answer with a line that names no path keeps its order: it cannot be told where it belongs. */
function sortHits(hits: Hit[]): Hit[] {
  if (hits.some((hit) => hit.path === "")) return hits;
  return hits.sort((a, b) => compareBytes(a.path, b.path) || a.line - b.line);
}

export function renderHits({ hits, total }: Hits): string {
  const shown = hits
    .slice(0, MAX_GREP_MATCHES)
    .map((hit) => clipLine((hit.exact ? showPath(hit.path) : hit.path) + hit.rest));
  const notice = total > shown.length ? `\n\n[Showing ${shown.length} of ${total} matches. Narrow your search.]` : "";
  return trimOutput(shown.join("\n")) + notice;
}
