/**
 * What the model was last told it has, and which file system the conversation's sandbox had when it was last looked at.
 *
 * Owns two keys of the table `instance`; written in the transaction that tells.
 *
 * Source: contract RUNTIME 5.
 */
import type { Surface } from "../../protocol/surface.ts";
import type { Database } from "./database.ts";
import { dropSpill, spillText, unspillText } from "./spill.ts";

const SURFACE_KEY = "surface";
const GENERATION_KEY = "workspace_generation";

function readValue(db: Database, key: string): string | undefined {
  return db.all<{ value: string }>("SELECT value FROM instance WHERE key = ?", key)[0]?.value;
}

function writeValue(db: Database, key: string, value: string): void {
  db.run("INSERT OR REPLACE INTO instance (key, value) VALUES (?, ?)", key, value);
}

/** `undefined` before the first contact, and in a conversation that an older deployment began. */
export function readSurface(db: Database): Surface | undefined {
  const cell = readValue(db, SURFACE_KEY);
  return cell === undefined ? undefined : (JSON.parse(unspillText(db, SURFACE_KEY, cell)) as Surface);
}

export function writeSurface(db: Database, surface: Surface): void {
  db.transaction(() => {
    dropSpill(db, SURFACE_KEY, readValue(db, SURFACE_KEY) ?? "");
    writeValue(db, SURFACE_KEY, spillText(db, SURFACE_KEY, JSON.stringify(surface)));
  });
}

export function readWorkspaceGeneration(db: Database): string | undefined {
  return readValue(db, GENERATION_KEY);
}

export function writeWorkspaceGeneration(db: Database, generation: string): void {
  writeValue(db, GENERATION_KEY, generation);
}
