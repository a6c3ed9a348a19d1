/**
 * The port through which the `virtual()` driver keeps its files in the conversation's own SQLite.
 *
 * The store owns inodes, directory entries, file bytes and the outcomes of keyed commands; the driver owns path
 * resolution and POSIX behaviour. Every call is synchronous, as SQLite in a Durable Object is; `commit` is one
 * transaction, so that a command's changes and its outcome are there together or not at all.
 */
import type { ExecResult } from "./exec-result.ts";

export type InodeKind = "file" | "directory" | "symlink";

export interface Inode {
  ino: number;
  kind: InodeKind;
  /** Permission bits, e.g. 0o644. */
  mode: number;
  /** Milliseconds since the epoch. */
  mtimeMs: number;
  /** Bytes of content; length of the target for a link. */
  size: number;
  /** Number of directory entries that lead here. */
  links: number;
  /** Only for a symlink. */
  target?: string;
}

export interface DirectoryEntry {
  name: string;
  ino: number;
  kind: InodeKind;
}

/** One change of a commit, applied in order. A negative `ino` stands for an inode made by this commit. */
export type FileChange =
  | { op: "inode"; inode: Inode }
  | { op: "content"; ino: number; bytes: Uint8Array }
  | { op: "link"; directory: number; name: string; ino: number }
  | { op: "unlink"; directory: number; name: string }
  | { op: "drop"; ino: number };

export interface KeyedOutcome {
  key: string;
  result: ExecResult;
}

export interface FileStore {
  readonly rootIno: number;
  readInode(ino: number): Inode | undefined;
  readEntry(directory: number, name: string): DirectoryEntry | undefined;
  listEntries(directory: number): DirectoryEntry[];
  readContent(ino: number): Uint8Array;
  readOutcome(key: string): ExecResult | undefined;
  /** All changes and the outcome, or nothing. Gives the real numbers of the inodes that were negative. */
  commit(changes: readonly FileChange[], outcome?: KeyedOutcome): ReadonlyMap<number, number>;
}
