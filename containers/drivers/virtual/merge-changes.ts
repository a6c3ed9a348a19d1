/**
 * What a staged view commits, laid over the store as it is now.
 *
 * Only what the view changed goes in, name by name and inode by inode, so that a file verb which committed while a command
 * ran never loses another file. The rules where both touched one place are those of a machine on which the command's change
 * came last, save that nothing the command has not seen is removed:
 * 1. Same file: the command's content wins; a mode it did not change stays the other's.
 * 2. The file, or the directory around it, is gone from the store: the command's change is gone with it.
 * 3. A name made by both: the command's file replaces the other's; a directory takes the command's in.
 * 4. A directory the command removed in which a file has appeared since: it stays with that file.
 * Link counts follow from the entries; an inode without an entry is dropped with all below it: no row is ever orphaned.
 */
import type { DirectoryEntry, FileChange, FileStore, Inode } from "../../file-store.ts";
import type { StagedEntry, StagedFiles } from "./staged-files.ts";

/** Calls nothing asynchronous: the store must not change between this and its `commit`. */
export function mergeChanges(view: StagedFiles, store: FileStore): FileChange[] {
  const staged = view.stagedEntries();
  const decided = decideEntries(view, store, staged);
  const deltas = new Map<number, number>();
  const addLinks = (ino: number, count: number): void => {
    deltas.set(ino, (deltas.get(ino) ?? 0) + count);
  };
  const entryChanges: FileChange[] = [];
  for (const [directory, names] of decided) {
    for (const [name, now] of names) {
      const current = directory > 0 ? store.readEntry(directory, name) : undefined;
      if (current?.ino === now?.ino) continue;
      if (current !== undefined) addLinks(current.ino, -1);
      if (now === null) {
        entryChanges.push({ op: "unlink", directory, name });
      } else {
        addLinks(now.ino, 1);
        entryChanges.push({ op: "link", directory, name, ino: now.ino });
      }
    }
  }
  const drops = dropUnlinked(store, deltas, decided);
  return [...inodeChanges(view, store, deltas, drops), ...entryChanges, ...drops.values()];
}

type Decided = Map<number, Map<string, DirectoryEntry | null>>;

/** Which name leads where after the commit, for every name the view touched. */
function decideEntries(
  view: StagedFiles,
  store: FileStore,
  staged: ReadonlyMap<number, ReadonlyMap<string, StagedEntry>>,
): Decided {
  const decided: Decided = new Map();
  const set = (directory: number, name: string, entry: DirectoryEntry | null): void => {
    const names = decided.get(directory) ?? new Map<string, DirectoryEntry | null>();
    decided.set(directory, names.set(name, entry));
  };
  const current = (directory: number, name: string): DirectoryEntry | undefined => {
    const known = decided.get(directory)?.get(name);
    if (known !== undefined) return known ?? undefined;
    return directory > 0 ? store.readEntry(directory, name) : undefined;
  };
  const moved = new Set<number>();
  for (const names of staged.values()) {
    for (const { now } of names.values()) if (now !== null && now.ino > 0) moved.add(now.ino);
  }

  /** Whether the entry can go without taking along something the view has not removed itself. */
  const isRemovable = (entry: DirectoryEntry): boolean => {
    if (entry.kind !== "directory" || moved.has(entry.ino)) return true;
    const names = staged.get(entry.ino);
    for (const { now } of names?.values() ?? []) if (now !== null) return false;
    return store
      .listEntries(entry.ino)
      .every((child) => names?.get(child.name)?.before === child.ino && isRemovable(child));
  };

  const place = (directory: number, name: string, { before, now }: StagedEntry): void => {
    const there = current(directory, name);
    if (now === null) {
      if (there !== undefined && there.ino === before && isRemovable(there)) set(directory, name, null);
      return;
    }
    if (view.inode(now.ino) === undefined) return;
    const isForeignDirectory =
      there?.kind === "directory" && there.ino !== now.ino && !(there.ino === before && isRemovable(there));
    if (!isForeignDirectory) {
      set(directory, name, now);
      if (now.ino < 0) for (const [child, entry] of staged.get(now.ino) ?? []) place(now.ino, child, entry);
      return;
    }
    if (now.kind !== "directory") {
      place(there.ino, name, { before: undefined, now });
      return;
    }
    for (const child of view.entries(now.ino)) {
      place(there.ino, child.name, { before: undefined, now: child });
      if (now.ino > 0) set(now.ino, child.name, null);
    }
  };

  for (const [directory, names] of staged) {
    if (directory < 0 || store.readInode(directory)?.kind !== "directory") continue;
    for (const [name, entry] of names) place(directory, name, entry);
  }
  return decided;
}

/** The inodes that no entry leads to any more, and what stood below them. */
function dropUnlinked(store: FileStore, deltas: Map<number, number>, decided: Decided): Map<number, FileChange> {
  const drops = new Map<number, FileChange>();
  const pending = [...deltas.keys()];
  for (;;) {
    const ino = pending.pop();
    if (ino === undefined) return drops;
    const inode = ino > 0 ? store.readInode(ino) : undefined;
    if (inode === undefined || drops.has(ino) || inode.links + (deltas.get(ino) ?? 0) > 0) continue;
    drops.set(ino, { op: "drop", ino });
    if (inode.kind !== "directory") continue;
    for (const child of store.listEntries(ino)) {
      if (decided.get(ino)?.has(child.name)) continue;
      deltas.set(child.ino, (deltas.get(child.ino) ?? 0) - 1);
      pending.push(child.ino);
    }
  }
}

function inodeChanges(
  view: StagedFiles,
  store: FileStore,
  deltas: ReadonlyMap<number, number>,
  drops: ReadonlyMap<number, FileChange>,
): FileChange[] {
  const changes: FileChange[] = [];
  const put = (inode: Inode, bytes: Uint8Array | undefined): void => {
    changes.push({ op: "inode", inode: bytes === undefined ? inode : { ...inode, size: bytes.byteLength } });
    if (bytes !== undefined) changes.push({ op: "content", ino: inode.ino, bytes });
  };
  const known = new Set([...deltas.keys(), ...[...view.changedInodes()].map(([ino]) => ino)]);
  for (const ino of known) {
    const links = deltas.get(ino) ?? 0;
    if (ino < 0) {
      const inode = view.inode(ino);
      if (inode !== undefined && links > 0) put({ ...inode, links }, view.changeOf(ino).bytes);
      continue;
    }
    const inode = store.readInode(ino);
    const { mode, mtimeMs, bytes } = view.changeOf(ino);
    const isChanged = links !== 0 || mode !== undefined || mtimeMs !== undefined || bytes !== undefined;
    if (inode === undefined || drops.has(ino) || !isChanged) continue;
    put({ ...inode, mode: mode ?? inode.mode, mtimeMs: mtimeMs ?? inode.mtimeMs, links: inode.links + links }, bytes);
  }
  return changes;
}
