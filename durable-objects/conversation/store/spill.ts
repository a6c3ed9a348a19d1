/**
 * The one rule for long text (B1): what is longer than a cell may be goes whole into numbered parts beside it, and the
 * cell keeps the parts' owner. Reading puts it together again.
 *
 * Owned by whoever writes the cell: `record:<seq>`, `input:<seq>`, `prompt:<epoch>`, `state:<name>`, `surface`,
 * `workspace_skills`.
 */
import { MAX_CELL_UNITS } from "../../protocol/limits.ts";
import type { Database } from "./database.ts";

/** No JSON text and no prompt begins so. No NUL: not everything that reads a cell reads past one. */
const MARK = "\u0001spilled";
/** As earlier deployments wrote it. */
const FORMER_MARK = "\u0000spilled";

function isMark(cell: string): boolean {
  return cell === MARK || cell === FORMER_MARK;
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}

/** Cuts so that no part ends inside a surrogate pair. */
function* partsOf(text: string): Generator<string> {
  for (let start = 0; start < text.length; ) {
    let end = Math.min(start + MAX_CELL_UNITS, text.length);
    if (end < text.length && isHighSurrogate(text.charCodeAt(end - 1))) end--;
    yield text.slice(start, end);
    start = end;
  }
}

/** Gives what to store in the cell. */
export function spillText(db: Database, owner: string, text: string): string {
  if (text.length <= MAX_CELL_UNITS) return text;
  let part = 0;
  for (const piece of partsOf(text)) {
    db.run("INSERT INTO spill (owner, part, text) VALUES (?, ?, ?)", owner, part++, piece);
  }
  return MARK;
}

export function unspillText(db: Database, owner: string, cell: string): string {
  if (!isMark(cell)) return cell;
  const rows = db.all<{ text: string }>("SELECT text FROM spill WHERE owner = ? ORDER BY part", owner);
  return rows.map((row) => row.text).join("");
}

export function dropSpill(db: Database, owner: string, cell: string): void {
  if (isMark(cell)) db.run("DELETE FROM spill WHERE owner = ?", owner);
}
