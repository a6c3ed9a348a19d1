/**
 * The persistent state of a conversation: one JSON value a name, written by the agent's own code.
 *
 * Owns the table `state`. A value changes only in the transaction that records what it came from: a tool's result or the
 * end of an event hook.
 *
 * Source: contract RUNTIME 4.
 */
import type { Database } from "./database.ts";
import { dropSpill, spillText, unspillText } from "./spill.ts";

export const STATE_SCHEMA: readonly string[] = [
  `CREATE TABLE state (
     name TEXT PRIMARY KEY,
     value TEXT NOT NULL
   ) STRICT, WITHOUT ROWID`,
];

export interface StateStore {
  /** A fresh copy; nothing before the first write. */
  read(name: string): { value: unknown } | undefined;
  /** @param value plain JSON. */
  write(name: string, value: unknown): void;
}

export function createStateStore(db: Database): StateStore {
  const owner = (name: string): string => `state:${name}`;
  const readCell = (name: string): string | undefined =>
    db.all<{ value: string }>("SELECT value FROM state WHERE name = ?", name)[0]?.value;
  return {
    read(name) {
      const cell = readCell(name);
      return cell === undefined ? undefined : { value: JSON.parse(unspillText(db, owner(name), cell)) as unknown };
    },
    write(name, value) {
      db.transaction(() => {
        const before = readCell(name);
        if (before !== undefined) dropSpill(db, owner(name), before);
        const cell = spillText(db, owner(name), JSON.stringify(value));
        db.run("INSERT OR REPLACE INTO state (name, value) VALUES (?, ?)", name, cell);
      });
    },
  };
}
