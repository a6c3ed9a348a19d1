/**
 * Cuts a file's text to the lines asked for and to the caps, and says how to go on. Shared by every tool that reads text.
 *
 * Source: contract TOOLS 3, D1, D12.
 */
import { Type } from "@sinclair/typebox";
import { MAX_READ_LINES, MAX_READ_UNITS } from "../protocol/limits.ts";
import type { ToolOutput } from "./define-tool.ts";
import { parameter } from "./parameter.ts";
import { firstUnits, truncateHead } from "./truncate.ts";

export const readParameters = Type.Object({
  path: parameter(Type.String(), "Path to the file to read"),
  offset: Type.Optional(parameter(Type.Number(), "Line number to start from (1-indexed)")),
  limit: Type.Optional(parameter(Type.Number(), "Maximum number of lines to read")),
});

export interface LineRange {
  /** 1-indexed. */
  first: number;
  /** Number of lines; absent = to the end. */
  limit: number | undefined;
}

/** Whole line numbers (D12); throws for a limit that asks for no line. */
export function parseLineRange(offset?: number, limit?: number): LineRange {
  const first = Math.max(1, Math.floor(offset ?? 1) || 1);
  const count = limit ? Math.floor(limit) : undefined;
  if (count !== undefined && !(count >= 1 && Number.isFinite(count))) throw new Error("limit must be 1 or more.");
  return { first, limit: count };
}

/** Throws when the range starts behind the last line. `path` is the parameter as given. */
export function formatReadContent(path: string, content: string, { first, limit }: LineRange): ToolOutput {
  const all = content.split("\n");
  const details = { path, lines: all.length };
  const start = first - 1;
  const firstLine = all[start];
  if (firstLine === undefined) {
    throw new Error(`Offset ${first} is beyond end of file (${all.length} lines total)`);
  }
  const asked = all.slice(start, limit === undefined ? all.length : start + limit);
  const { lines, truncated } = truncateHead(asked, MAX_READ_LINES, MAX_READ_UNITS);
  const text = lines.join("\n");
  if (!truncated) return { text, details };
  if (lines.length === 0) {
    const notice =
      `[Line ${first} exceeds the ${MAX_READ_UNITS}-byte read limit; showing the first ${MAX_READ_UNITS} bytes of it.` +
      " The remainder of this line is not accessible via offset/limit.]";
    return { text: `${firstUnits(firstLine, MAX_READ_UNITS)}\n\n${notice}`, details };
  }
  const last = start + lines.length;
  const notice = `[Showing lines ${first}-${last} of ${all.length}. Use offset=${last + 1} to continue.]`;
  return { text: `${text}\n\n${notice}`, details };
}
