/**
 * What a conversation is: fixed at birth, read from then on.
 *
 * Source: contract RUNTIME 1.3 (`uid`), 1.7 (`incarnation`).
 */
import type { Database } from "./database.ts";

export interface Instance {
  uid: string;
  /** Generation of the stream. */
  incarnation: string;
  agent: string;
  /** As the caller chose it. */
  id: string;
  initialData?: unknown;
}

const KEY = "instance";

export function readInstance(db: Database): Instance | undefined {
  const row = db.all<{ value: string }>("SELECT value FROM instance WHERE key = ?", KEY)[0];
  return row && (JSON.parse(row.value) as Instance);
}

export function insertInstance(db: Database, instance: Instance): void {
  db.run("INSERT INTO instance (key, value) VALUES (?, ?)", KEY, JSON.stringify(instance));
}
