/**
 * Attachments: immutable bytes beside the records that name them, in parts that fit a cell (B1).
 *
 * Source: contract RUNTIME 1.9.
 */
import type { Database } from "./database.ts";

const PART_BYTES = 1024 * 1024;

export interface AttachmentHead {
  mimeType: string;
  /** Bytes. */
  size: number;
}

export interface AttachmentStore {
  insert(id: string, mimeType: string, bytes: Uint8Array): void;
  readHead(id: string): AttachmentHead | undefined;
  /** Part by part, as it is asked for. */
  readParts(id: string): Generator<Uint8Array>;
}

type HeadRow = { mime_type: string; size: number };

export function createAttachmentStore(db: Database): AttachmentStore {
  return {
    insert(id, mimeType, bytes) {
      db.run("INSERT INTO attachment (id, mime_type, size) VALUES (?, ?, ?)", id, mimeType, bytes.length);
      for (let part = 0; part * PART_BYTES < bytes.length; part++) {
        const slice = bytes.slice(part * PART_BYTES, (part + 1) * PART_BYTES);
        db.run("INSERT INTO attachment_part (id, part, bytes) VALUES (?, ?, ?)", id, part, slice);
      }
    },
    readHead(id) {
      const row = db.all<HeadRow>("SELECT mime_type, size FROM attachment WHERE id = ?", id)[0];
      return row && { mimeType: row.mime_type, size: row.size };
    },
    *readParts(id) {
      for (let part = 0; ; part++) {
        const row = db.all<{ bytes: Uint8Array }>(
          "SELECT bytes FROM attachment_part WHERE id = ? AND part = ?",
          id,
          part,
        )[0];
        if (!row) return;
        yield row.bytes;
      }
    },
  };
}
