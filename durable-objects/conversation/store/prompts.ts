/**
 * The frozen system prompts, one row an epoch. A row is never updated (P1); only a compaction adds the next epoch.
 *
 * Source: contract RUNTIME 5.
 */
import type { Database } from "./database.ts";
import { spillText, unspillText } from "./spill.ts";

export interface FrozenPrompt {
  epoch: number;
  /** Milliseconds since the epoch of time. */
  composedAt: number;
  /** Hex. */
  sha256: string;
  text: string;
}

type PromptRow = { epoch: number; composed_at: number; sha256: string; text: string };

export interface PromptStore {
  latest(): FrozenPrompt | undefined;
  insert(prompt: FrozenPrompt): void;
}

export function createPromptStore(db: Database): PromptStore {
  return {
    latest() {
      const row = db.all<PromptRow>(
        "SELECT epoch, composed_at, sha256, text FROM prompt ORDER BY epoch DESC LIMIT 1",
      )[0];
      if (!row) return undefined;
      const text = unspillText(db, `prompt:${row.epoch}`, row.text);
      return { epoch: row.epoch, composedAt: row.composed_at, sha256: row.sha256, text };
    },
    insert(prompt) {
      db.transaction(() => {
        const cell = spillText(db, `prompt:${prompt.epoch}`, prompt.text);
        db.run(
          "INSERT INTO prompt (epoch, composed_at, sha256, text) VALUES (?, ?, ?, ?)",
          prompt.epoch,
          prompt.composedAt,
          prompt.sha256,
          cell,
        );
      });
    },
  };
}
