/**
 * `/dev`: a few entries that every view shows and no commit keeps. Their inode numbers lie above all real ones.
 *
 * Reading a device gives nothing, writing to one goes nowhere. Below `/dev/fd` a shell makes the short-lived files of
 * process substitution; they live in the command's view alone.
 */
import type { DirectoryEntry, Inode, InodeKind } from "../../file-store.ts";

const FIRST_DEVICE_INO = 2 ** 52;
const DEV_INO = FIRST_DEVICE_INO;
const DEV_FD_INO = FIRST_DEVICE_INO + 1;

const DEV_ENTRY: DirectoryEntry = { name: "dev", ino: DEV_INO, kind: "directory" };
const DEV_ENTRIES: readonly DirectoryEntry[] = [
  { name: "fd", ino: DEV_FD_INO, kind: "directory" },
  ...["full", "null", "random", "stderr", "stdin", "stdout", "tty", "urandom", "zero"].map(
    (name, index): DirectoryEntry => ({ name, ino: FIRST_DEVICE_INO + 2 + index, kind: "file" }),
  ),
];

/** Whether the number is a device's or one of the directories that hold them. */
export function isDevice(ino: number): boolean {
  return ino >= FIRST_DEVICE_INO;
}

/** Whether files may be made in this directory of `/dev`. */
export function isVolatileDirectory(ino: number): boolean {
  return ino === DEV_FD_INO;
}

export function deviceInode(ino: number): Inode {
  const kind: InodeKind = ino === DEV_INO || ino === DEV_FD_INO ? "directory" : "file";
  return { ino, kind, mode: kind === "directory" ? 0o755 : 0o666, mtimeMs: 0, size: 0, links: 1 };
}

export function deviceEntry(directory: number, rootIno: number, name: string): DirectoryEntry | undefined {
  return deviceEntries(directory, rootIno).find((entry) => entry.name === name);
}

export function deviceEntries(directory: number, rootIno: number): readonly DirectoryEntry[] {
  if (directory === rootIno) return [DEV_ENTRY];
  return directory === DEV_INO ? DEV_ENTRIES : [];
}
