/**
 * Inodes and directory entries in memory in front of a file store: one command looks up the same few paths thousands of
 * times.
 *
 * Everything is forgotten at each commit, so the answers are the store's own as long as nobody commits past it. A commit
 * must not stand inside a transaction that is rolled back later. Holds at most `MAX_CACHED` answers.
 */
import type { DirectoryEntry, FileStore, Inode } from "../../../containers/file-store.ts";

const MAX_CACHED = 4096;

export function cacheReads(store: FileStore): FileStore {
  const inodes = new Map<number, Inode | undefined>();
  const entries = new Map<string, DirectoryEntry | undefined>();
  const remember = <K, V>(cache: Map<K, V>, key: K, read: () => V): V => {
    const known = cache.get(key);
    if (known !== undefined || cache.has(key)) return known as V;
    if (cache.size >= MAX_CACHED) cache.clear();
    const value = read();
    cache.set(key, value);
    return value;
  };
  return {
    ...store,
    readInode: (ino) => remember(inodes, ino, () => store.readInode(ino)),
    readEntry: (directory, name) => remember(entries, `${directory}/${name}`, () => store.readEntry(directory, name)),
    commit(changes, outcome) {
      inodes.clear();
      entries.clear();
      return store.commit(changes, outcome);
    },
  };
}
