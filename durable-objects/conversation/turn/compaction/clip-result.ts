/**
 * A tool result too large for what a compaction keeps, cut in the model's view: its head and its tail with a note between.
 * The record keeps it whole.
 *
 * Source: contract RUNTIME 6 (progress rule).
 */
import type { ToolResultMessage } from "@earendil-works/pi-ai";

/** Part of what is kept that comes from the beginning. */
const HEAD_SHARE = 0.75;

/** @param units UTF-16 units that are kept of its text. */
export function clipResult(result: ToolResultMessage, units: number): ToolResultMessage {
  const text = result.content.map((part) => (part.type === "text" ? part.text : "")).join("");
  if (text.length <= units) return result;
  const headUnits = Math.floor(units * HEAD_SHARE);
  const head = text.slice(0, headUnits).toWellFormed();
  const tail = text.slice(text.length - (units - headUnits)).toWellFormed();
  const left = text.length - units;
  const note = `[${left} characters of this result were left out to fit the context window. Call the tool again with a narrower range to see them.]`;
  return { ...result, content: [{ type: "text", text: `${head}\n\n${note}\n\n${tail}` }] };
}
