/**
 * A copy-on-write view over a `FileStore`: what one command, or one file verb, has changed and not yet committed.
 *
 * Owns its changes in memory and never writes the store. What it has not changed is read through to the last commit, so a
 * running command sees the file verbs that happen meanwhile, as on a real machine. New inodes have negative numbers.
 * Staged content plus a fixed charge for every staged inode and entry stays at or below `MAX_STAGED_BYTES`; the change
 * that would pass it is refused whole with ENOSPC. Knows inodes and entries only: paths are `path-walk.ts`.
 */

import { fileError } from "../../file-errors.ts";
import type { DirectoryEntry, FileStore, Inode, InodeKind } from "../../file-store.ts";
import { compareNames } from "../bash/compare-names.ts";
import { deviceEntries, deviceEntry, deviceInode, isDevice, isVolatileDirectory } from "./devices.ts";

export const MAX_STAGED_BYTES = 32 * 1024 * 1024;
const STAGED_RECORD_BYTES = 256;

/** A new inode, or what differs from the store's. */
interface StagedInode {
  /** Only for a new inode. */
  made?: { kind: InodeKind; target?: string };
  mode?: number;
  mtimeMs?: number;
  /** Room may be larger than what is used. */
  content?: { room: Uint8Array; length: number };
  linkDelta: number;
}

/** What a name leads to now, and which inode it led to when it was first staged. */
export interface StagedEntry {
  before: number | undefined;
  now: DirectoryEntry | null;
}

/** The staged part of an inode, as the merge needs it. */
export interface InodeChange {
  mode?: number | undefined;
  mtimeMs?: number | undefined;
  bytes?: Uint8Array | undefined;
}

export class StagedFiles {
  readonly rootIno: number;
  readonly #store: FileStore;
  readonly #now: () => number;
  readonly #maxBytes: number;
  readonly #inodes = new Map<number, StagedInode>();
  readonly #entries = new Map<number, Map<string, StagedEntry>>();
  #nextIno = -1;
  #stagedBytes = 0;
  #isFull = false;

  constructor(store: FileStore, now: () => number, maxBytes: number = MAX_STAGED_BYTES) {
    this.#store = store;
    this.#now = now;
    this.#maxBytes = maxBytes;
    this.rootIno = store.rootIno;
  }

  /** Whether a change was refused for want of room. */
  get isFull(): boolean {
    return this.#isFull;
  }

  get stagedBytes(): number {
    return this.#stagedBytes;
  }

  /** The inode as this view has it; `undefined` once it is gone from the store. */
  inode(ino: number): Inode | undefined {
    if (isDevice(ino)) return deviceInode(ino);
    const staged = this.#inodes.get(ino);
    if (staged === undefined) return ino > 0 ? this.#store.readInode(ino) : undefined;
    const base: Inode | undefined =
      staged.made === undefined
        ? this.#store.readInode(ino)
        : { ino, mode: 0, mtimeMs: 0, size: 0, links: 0, ...staged.made };
    if (base === undefined) return undefined;
    return {
      ...base,
      mode: staged.mode ?? base.mode,
      mtimeMs: staged.mtimeMs ?? base.mtimeMs,
      size: staged.content?.length ?? base.target?.length ?? base.size,
      links: base.links + staged.linkDelta,
    };
  }

  entry(directory: number, name: string): DirectoryEntry | undefined {
    const staged = this.#entries.get(directory)?.get(name);
    if (staged === undefined) return this.#baseEntry(directory, name);
    if (staged.now === null || this.inode(staged.now.ino) === undefined) return undefined;
    return staged.now;
  }

  /** By name, in byte order of UTF-8. */
  entries(directory: number): DirectoryEntry[] {
    const base = directory > 0 && !isDevice(directory) ? this.#store.listEntries(directory) : [];
    const staged = this.#entries.get(directory);
    const devices = deviceEntries(directory, this.rootIno);
    if (staged === undefined && devices.length === 0) return base;
    const merged = new Map([...devices, ...base].map((entry) => [entry.name, entry]));
    for (const name of staged?.keys() ?? []) {
      const entry = this.entry(directory, name);
      if (entry === undefined) merged.delete(name);
      else merged.set(name, entry);
    }
    return [...merged.values()].sort((a, b) => compareNames(a.name, b.name));
  }

  /** The caller must not change the bytes. */
  content(ino: number): Uint8Array {
    if (isDevice(ino)) return new Uint8Array(0);
    const staged = this.#inodes.get(ino);
    if (staged?.content !== undefined) return staged.content.room.subarray(0, staged.content.length);
    return ino > 0 ? this.#store.readContent(ino) : new Uint8Array(0);
  }

  create(kind: InodeKind, mode: number, target?: string): number {
    this.#charge(STAGED_RECORD_BYTES + (target?.length ?? 0));
    const ino = this.#nextIno;
    this.#nextIno -= 1;
    const made = target === undefined ? { kind } : { kind, target };
    this.#inodes.set(ino, { made, mode, mtimeMs: this.#now(), linkDelta: 0 });
    return ino;
  }

  /** Points the name at the inode; what it led to before loses a link. */
  link(directory: number, name: string, ino: number): void {
    const kind = this.inode(ino)?.kind;
    if (kind === undefined) throw fileError("ENOENT", "link", name);
    if (isDevice(directory) && !isVolatileDirectory(directory)) throw fileError("EACCES", "open", `/dev/${name}`);
    const before = this.entry(directory, name);
    if (before?.ino === ino) return;
    this.#stageEntry(directory, name, { name, ino, kind });
    this.#addLinks(ino, 1);
    if (before !== undefined) this.#addLinks(before.ino, -1);
  }

  unlink(directory: number, name: string): void {
    if (directory === this.rootIno && isDevice(this.entry(directory, name)?.ino ?? 0)) {
      throw fileError("EBUSY", "rm", `/${name}`);
    }
    if (isDevice(directory) && !isVolatileDirectory(directory)) throw fileError("EACCES", "rm", `/dev/${name}`);
    const before = this.entry(directory, name);
    if (before === undefined) return;
    this.#stageEntry(directory, name, null);
    this.#addLinks(before.ino, -1);
  }

  write(ino: number, bytes: Uint8Array): void {
    if (isDevice(ino)) return;
    const staged = this.#stage(ino);
    this.#charge(bytes.byteLength - (staged.content?.length ?? 0));
    staged.content = { room: bytes.slice(), length: bytes.byteLength };
    staged.mtimeMs = this.#now();
  }

  append(ino: number, bytes: Uint8Array): void {
    if (isDevice(ino)) return;
    const staged = this.#stage(ino);
    if (staged.content === undefined) {
      const base = this.content(ino);
      this.#charge(base.byteLength);
      staged.content = { room: base, length: base.byteLength };
    }
    const { room, length } = staged.content;
    this.#charge(bytes.byteLength);
    const total = length + bytes.byteLength;
    if (total > room.byteLength) {
      const larger = new Uint8Array(total + Math.min(length, 1024 * 1024));
      larger.set(room.subarray(0, length));
      larger.set(bytes, length);
      staged.content = { room: larger, length: total };
    } else {
      room.set(bytes, length);
      staged.content = { room, length: total };
    }
    staged.mtimeMs = this.#now();
  }

  setMode(ino: number, mode: number): void {
    if (!isDevice(ino)) this.#stage(ino).mode = mode;
  }

  setTime(ino: number, mtimeMs: number): void {
    if (!isDevice(ino)) this.#stage(ino).mtimeMs = mtimeMs;
  }

  /** For the merge: everything staged by directory, devices left out. */
  stagedEntries(): ReadonlyMap<number, ReadonlyMap<string, StagedEntry>> {
    return new Map([...this.#entries].filter(([directory]) => !isDevice(directory)));
  }

  /** For the merge: inodes of the store that differ. */
  *changedInodes(): Iterable<[number, InodeChange]> {
    for (const ino of this.#inodes.keys()) {
      if (ino > 0) yield [ino, this.changeOf(ino)];
    }
  }

  changeOf(ino: number): InodeChange {
    const staged = this.#inodes.get(ino);
    const bytes = staged?.content === undefined ? undefined : this.content(ino);
    return { mode: staged?.mode, mtimeMs: staged?.mtimeMs, bytes };
  }

  #baseEntry(directory: number, name: string): DirectoryEntry | undefined {
    const stored = directory > 0 && !isDevice(directory) ? this.#store.readEntry(directory, name) : undefined;
    return stored ?? deviceEntry(directory, this.rootIno, name);
  }

  #stageEntry(directory: number, name: string, now: DirectoryEntry | null): void {
    const names = this.#entries.get(directory) ?? new Map<string, StagedEntry>();
    this.#entries.set(directory, names);
    const known = names.get(name);
    if (known === undefined) this.#charge(STAGED_RECORD_BYTES);
    const before = known === undefined ? this.#baseEntry(directory, name)?.ino : known.before;
    if ((now?.ino ?? undefined) === before) {
      names.delete(name);
      this.#stagedBytes -= STAGED_RECORD_BYTES;
    } else {
      names.set(name, { before, now });
    }
  }

  #stage(ino: number): StagedInode {
    const known = this.#inodes.get(ino);
    if (known !== undefined) return known;
    this.#charge(STAGED_RECORD_BYTES);
    const staged: StagedInode = { linkDelta: 0 };
    this.#inodes.set(ino, staged);
    return staged;
  }

  #addLinks(ino: number, delta: number): void {
    if (isDevice(ino)) return;
    const staged = this.#stage(ino);
    staged.linkDelta += delta;
    if ((this.inode(ino)?.links ?? 0) > 0) return;
    this.#stagedBytes -= staged.content?.length ?? 0;
    delete staged.content;
    if (staged.made !== undefined) {
      this.#stagedBytes -= STAGED_RECORD_BYTES + (staged.made.target?.length ?? 0);
      this.#inodes.delete(ino);
      this.#entries.delete(ino);
    }
  }

  #charge(bytes: number): void {
    if (bytes > 0 && this.#stagedBytes + bytes > this.#maxBytes) {
      this.#isFull = true;
      throw fileError("ENOSPC", "write", "/");
    }
    this.#stagedBytes += bytes;
  }
}
