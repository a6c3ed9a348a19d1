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
  /** @param compactionSeq number of the compaction's record; absent for the first epoch. */
  insert(prompt: PromptView, compactionSeq?: number): void;
  /** Number of the last compaction's record. */
  readCompactionSeq(): number | undefined;
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
    readCompactionSeq() {
      const row = db.all<{ compaction_seq: number | null }>(
        "SELECT compaction_seq FROM prompt ORDER BY epoch DESC LIMIT 1",
      )[0];
      return row?.compaction_seq ?? undefined;
    },
    insert(prompt, compactionSeq) {
      db.transaction(() => {
        const cell = spillText(db, `prompt:${prompt.epoch}`, prompt.text);
        db.run(
          "INSERT INTO prompt (epoch, composed_at, sha256, text, compaction_seq) VALUES (?, ?, ?, ?, ?)",
          prompt.epoch,
          prompt.composedAt,
          prompt.sha256,
          cell,
          compactionSeq ?? null,
        );
      });
    },
  };
}
