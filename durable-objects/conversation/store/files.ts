/**
 * The files of the `virtual()` sandbox and the outcomes of its keyed commands, as tables of the conversation's SQLite.
 *
 * Owns `file_*` and `command_*`; nobody else writes them. Invariants: a commit is one transaction; no cell holds more
 * than `MAX_CHUNK_BYTES` (B1); an inode number is never given twice in the life of a store, so that a command which still
 * holds a number cannot write into another's file; a key answers for ever, though only the newest `KEPT_OUTPUTS` outcomes
 * keep their text (the conversation has its own record of every settled call).
 *
 * Cost in rows written: an overwrite of a small file is one, a new small file two, a command's outcome three. The root,
 * `/workspace` and `/tmp` are shown before they exist and become rows with the first commit: reading writes nothing.
 */
import type {
  DirectoryEntry,
  FileChange,
  FileStore,
  Inode,
  InodeKind,
  KeyedOutcome,
} from "../../../containers/file-store.ts";
import type { ExecResult } from "../../../containers/sandbox.ts";
import type { Database, SqlValue } from "./database.ts";
import { cacheReads } from "./file-cache.ts";

const MAX_CHUNK_BYTES = 256 * 1024;
/** Content up to this stands in the inode's own row. */
const MAX_INLINE_BYTES = 64 * 1024;
const KEPT_OUTPUTS = 32;

const ROOT_INO = 1;
/** What a store shows before its first commit: directories by number, named below the root. */
const BIRTH_DIRECTORIES: readonly { ino: number; name: string; mode: number }[] = [
  { ino: ROOT_INO, name: "", mode: 0o755 },
  { ino: 2, name: "workspace", mode: 0o755 },
  { ino: 3, name: "tmp", mode: 0o1777 },
];

/** One entry of the numbered migration map. */
export const FILES_SCHEMA: string[] = [
  `CREATE TABLE file_inodes (
    ino INTEGER PRIMARY KEY, kind TEXT NOT NULL, mode INTEGER NOT NULL, mtime_ms INTEGER NOT NULL,
    size INTEGER NOT NULL, links INTEGER NOT NULL, target TEXT, content BLOB
  ) STRICT`,
  `CREATE TABLE file_entries (
    directory INTEGER NOT NULL, name TEXT NOT NULL, ino INTEGER NOT NULL, PRIMARY KEY (directory, name)
  ) STRICT, WITHOUT ROWID`,
  `CREATE TABLE file_chunks (
    ino INTEGER NOT NULL, part INTEGER NOT NULL, bytes BLOB NOT NULL, PRIMARY KEY (ino, part)
  ) STRICT, WITHOUT ROWID`,
  `CREATE TABLE command_outcomes (
    seq INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, exit_code INTEGER NOT NULL, output BLOB
  ) STRICT`,
  `CREATE TABLE command_chunks (
    seq INTEGER NOT NULL, part INTEGER NOT NULL, bytes BLOB NOT NULL, PRIMARY KEY (seq, part)
  ) STRICT, WITHOUT ROWID`,
];

interface InodeRow extends Record<string, SqlValue> {
  ino: number;
  kind: string;
  mode: number;
  mtime_ms: number;
  size: number;
  links: number;
  target: string | null;
}

interface OutcomeRow extends Record<string, SqlValue> {
  seq: number;
  exit_code: number;
  output: Uint8Array | null;
}

const INODE = `SELECT ino, kind, mode, mtime_ms, size, links, target FROM file_inodes WHERE ino = ?`;
const ENTRY = `SELECT e.name, e.ino, i.kind FROM file_entries e JOIN file_inodes i ON i.ino = e.ino
  WHERE e.directory = ? AND e.name = ?`;
const ENTRIES = `SELECT e.name, e.ino, i.kind FROM file_entries e JOIN file_inodes i ON i.ino = e.ino
  WHERE e.directory = ? ORDER BY e.name`;
const PUT_INODE = `INSERT INTO file_inodes (ino, kind, mode, mtime_ms, size, links, target) VALUES (?, ?, ?, ?, ?, ?, ?)
  ON CONFLICT (ino) DO UPDATE SET mode = excluded.mode, mtime_ms = excluded.mtime_ms, size = excluded.size,
  links = excluded.links`;
const PUT_INODE_CONTENT = `INSERT INTO file_inodes (ino, kind, mode, mtime_ms, size, links, target, content)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?)
  ON CONFLICT (ino) DO UPDATE SET mode = excluded.mode, mtime_ms = excluded.mtime_ms, size = excluded.size,
  links = excluded.links, content = excluded.content`;

/** A store over tables made by `FILES_SCHEMA`. */
export function createFileStore(db: Database): FileStore {
  let nextIno = 0;

  const isBorn = (): boolean => db.all(`SELECT 1 AS born FROM file_inodes WHERE ino = ?`, ROOT_INO).length > 0;

  const readInode = (ino: number): Inode | undefined => {
    const row = db.all<InodeRow>(INODE, ino)[0];
    if (row !== undefined) return inodeOf(row);
    const unborn = BIRTH_DIRECTORIES.find((directory) => directory.ino === ino);
    if (unborn === undefined || isBorn()) return undefined;
    return { ino, kind: "directory", mode: unborn.mode, mtimeMs: 0, size: 0, links: 1 };
  };

  const birthEntries = (directory: number): DirectoryEntry[] =>
    directory !== ROOT_INO || isBorn()
      ? []
      : BIRTH_DIRECTORIES.filter(({ ino }) => ino !== ROOT_INO)
          .map(({ ino, name }): DirectoryEntry => ({ ino, name, kind: "directory" }))
          .sort((a, b) => (a.name < b.name ? -1 : 1));

  const readContent = (ino: number): Uint8Array => {
    const row = db.all<{ size: number; content: Uint8Array | null }>(
      `SELECT size, content FROM file_inodes WHERE ino = ?`,
      ino,
    )[0];
    if (row === undefined) return new Uint8Array(0);
    if (row.content !== null) return row.content;
    return joinChunks(
      db.all<{ bytes: Uint8Array }>(`SELECT bytes FROM file_chunks WHERE ino = ? ORDER BY part`, ino),
      row.size,
    );
  };

  const readOutcome = (key: string): ExecResult | undefined => {
    const row = db.all<OutcomeRow>(`SELECT seq, exit_code, output FROM command_outcomes WHERE key = ?`, key)[0];
    if (row === undefined) return undefined;
    const parts = db.all<{ bytes: Uint8Array }>(
      `SELECT bytes FROM command_chunks WHERE seq = ? ORDER BY part`,
      row.seq,
    );
    const bytes = row.output ?? (parts.length > 0 ? joinChunks(parts) : undefined);
    if (bytes === undefined) {
      return { stdout: "", stderr: "[The output of this command is no longer kept.]\n", exitCode: row.exit_code };
    }
    const output = JSON.parse(new TextDecoder().decode(bytes)) as { stdout: string; stderr: string };
    return { stdout: output.stdout, stderr: output.stderr, exitCode: row.exit_code };
  };

  const beBorn = (mtimeMs: number): void => {
    for (const { ino, name, mode } of BIRTH_DIRECTORIES) {
      db.run(PUT_INODE, ino, "directory", mode, mtimeMs, 0, 1, null);
      if (ino !== ROOT_INO) db.run(`INSERT INTO file_entries VALUES (?, ?, ?)`, ROOT_INO, name, ino);
    }
  };

  const allocateIno = (): number => {
    const top = db.all<{ top: number | null }>(`SELECT max(ino) AS top FROM file_inodes`)[0]?.top ?? ROOT_INO;
    nextIno = Math.max(nextIno, top + 1);
    nextIno += 1;
    return nextIno - 1;
  };

  const putInode = (inode: Inode, ino: number, content: Uint8Array | undefined): void => {
    const size = content === undefined ? inode.size : content.byteLength;
    const columns = [ino, inode.kind, inode.mode, Math.round(inode.mtimeMs), size, inode.links, inode.target ?? null];
    if (content === undefined) {
      db.run(PUT_INODE, ...columns);
      return;
    }
    const before = db.all<{ size: number }>(`SELECT size FROM file_inodes WHERE ino = ?`, ino)[0]?.size ?? 0;
    if (before > MAX_INLINE_BYTES) db.run(`DELETE FROM file_chunks WHERE ino = ?`, ino);
    const inline = size <= MAX_INLINE_BYTES;
    db.run(PUT_INODE_CONTENT, ...columns, inline ? content : null);
    if (!inline) putChunks(`INSERT INTO file_chunks VALUES (?, ?, ?)`, ino, content);
  };

  const putChunks = (sql: string, owner: number, bytes: Uint8Array): void => {
    for (let start = 0; start < bytes.byteLength; start += MAX_CHUNK_BYTES) {
      db.run(sql, owner, start / MAX_CHUNK_BYTES, bytes.subarray(start, start + MAX_CHUNK_BYTES));
    }
  };

  const putOutcome = ({ key, result }: KeyedOutcome): void => {
    const output = new TextEncoder().encode(JSON.stringify({ stdout: result.stdout, stderr: result.stderr }));
    const inline = output.byteLength <= MAX_INLINE_BYTES;
    db.run(
      `INSERT INTO command_outcomes (key, exit_code, output) VALUES (?, ?, ?)`,
      key,
      result.exitCode,
      inline ? output : null,
    );
    const seq = db.all<{ seq: number }>(`SELECT seq FROM command_outcomes WHERE key = ?`, key)[0]?.seq ?? 0;
    if (!inline) putChunks(`INSERT INTO command_chunks VALUES (?, ?, ?)`, seq, output);
    db.run(`UPDATE command_outcomes SET output = NULL WHERE seq = ? AND output IS NOT NULL`, seq - KEPT_OUTPUTS);
    db.run(`DELETE FROM command_chunks WHERE seq = ?`, seq - KEPT_OUTPUTS);
  };

  const apply = (changes: readonly FileChange[]): ReadonlyMap<number, number> => {
    const made = new Map<number, number>();
    const real = (ino: number): number => {
      if (ino >= 0) return ino;
      const known = made.get(ino);
      if (known !== undefined) return known;
      const allocated = allocateIno();
      made.set(ino, allocated);
      return allocated;
    };
    if (changes.length > 0 && !isBorn()) {
      beBorn(Math.max(0, ...changes.map((change) => (change.op === "inode" ? change.inode.mtimeMs : 0))));
    }
    for (let index = 0; index < changes.length; index += 1) {
      const change = changes[index];
      if (change === undefined) break;
      switch (change.op) {
        case "inode": {
          // An inode and its content, one after the other, are one row.
          const next = changes[index + 1];
          const isPair = next?.op === "content" && next.ino === change.inode.ino;
          const content = isPair ? next.bytes : undefined;
          const isNewFile = change.inode.ino < 0 && change.inode.kind === "file";
          putInode(change.inode, real(change.inode.ino), content ?? (isNewFile ? new Uint8Array(0) : undefined));
          if (isPair) index += 1;
          break;
        }
        case "content": {
          const inode = readInode(real(change.ino));
          if (inode === undefined) throw new Error(`file store: content for the unknown inode ${change.ino}`);
          putInode(inode, inode.ino, change.bytes);
          break;
        }
        case "link":
          db.run(
            `INSERT INTO file_entries VALUES (?, ?, ?) ON CONFLICT (directory, name) DO UPDATE SET ino = excluded.ino`,
            real(change.directory),
            change.name,
            real(change.ino),
          );
          break;
        case "unlink":
          db.run(`DELETE FROM file_entries WHERE directory = ? AND name = ?`, real(change.directory), change.name);
          break;
        case "drop":
          db.run(`DELETE FROM file_chunks WHERE ino = ?`, real(change.ino));
          db.run(`DELETE FROM file_entries WHERE directory = ?`, real(change.ino));
          db.run(`DELETE FROM file_inodes WHERE ino = ?`, real(change.ino));
          break;
      }
    }
    return made;
  };

  return cacheReads({
    rootIno: ROOT_INO,
    readInode,
    readEntry(directory, name) {
      const row = db.all<{ name: string; ino: number; kind: string }>(ENTRY, directory, name)[0];
      return row === undefined ? birthEntries(directory).find((entry) => entry.name === name) : entryOf(row);
    },
    listEntries(directory) {
      const rows = db.all<{ name: string; ino: number; kind: string }>(ENTRIES, directory);
      return rows.length === 0 ? birthEntries(directory) : rows.map(entryOf);
    },
    readContent,
    readOutcome,
    commit: (changes, outcome) =>
      db.transaction(() => {
        const made = apply(changes);
        if (outcome !== undefined) putOutcome(outcome);
        return made;
      }),
  });
}

function inodeOf(row: InodeRow): Inode {
  const inode: Inode = {
    ino: row.ino,
    kind: row.kind as InodeKind,
    mode: row.mode,
    mtimeMs: row.mtime_ms,
    size: row.size,
    links: row.links,
  };
  if (row.target !== null) inode.target = row.target;
  return inode;
}

function entryOf(row: { name: string; ino: number; kind: string }): DirectoryEntry {
  return { name: row.name, ino: row.ino, kind: row.kind as InodeKind };
}

function joinChunks(parts: readonly { bytes: Uint8Array }[], size?: number): Uint8Array {
  const joined = new Uint8Array(size ?? parts.reduce((sum, part) => sum + part.bytes.byteLength, 0));
  let offset = 0;
  for (const { bytes } of parts) {
    joined.set(bytes, offset);
    offset += bytes.byteLength;
  }
  return joined;
}
