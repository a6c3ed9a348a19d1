/**
 * The frozen system prompts, one row an epoch. A row is never updated (P1); only a compaction adds the next epoch.
 *
 * Source: contract RUNTIME 5.
 */
import type { PromptView } from "../../protocol/rpc.ts";
import type { Database } from "./database.ts";
import { spillText, unspillText } from "./spill.ts";

type PromptRow = { epoch: number; composed_at: number; sha256: string; text: string };

export interface PromptStore {
  /** The newest, or that of an epoch. */
  read(epoch?: number): PromptView | undefined;
  insert(prompt: PromptView): void;
}

export function createPromptStore(db: Database): PromptStore {
  return {
    read(epoch) {
      const sql = "SELECT epoch, composed_at, sha256, text FROM prompt";
      const rows =
        epoch === undefined
          ? db.all<PromptRow>(`${sql} ORDER BY epoch DESC LIMIT 1`)
          : db.all<PromptRow>(`${sql} WHERE epoch = ?`, epoch);
      const row = rows[0];
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
