/**
 * The file calls of POSIX over a staged view, synchronous, with Node's error texts.
 *
 * Writing goes in place: mode, inode and hard links stay, links are followed, and a link that leads nowhere makes its
 * target (D26). Modes are kept and not enforced: there is one user.
 */

import { fileError, hasFileErrorCode } from "../../file-errors.ts";
import type { Inode } from "../../file-store.ts";
import { isDevice } from "./devices.ts";
import { walk, walkToInode } from "./path-walk.ts";
import type { StagedFiles } from "./staged-files.ts";

const FILE_MODE = 0o644;
const DIRECTORY_MODE = 0o755;
const LINK_MODE = 0o777;

export function readFile(files: StagedFiles, path: string): Uint8Array {
  const { inode } = walkToInode(files, path, "open", { follow: true });
  if (inode.kind === "directory") throw fileError("EISDIR", "read", path);
  return files.content(inode.ino);
}

export function writeFile(files: StagedFiles, path: string, bytes: Uint8Array): void {
  files.write(openForWriting(files, path), bytes);
}

export function appendFile(files: StagedFiles, path: string, bytes: Uint8Array): void {
  files.append(openForWriting(files, path), bytes);
}

function openForWriting(files: StagedFiles, path: string): number {
  const { parent, name, inode } = walk(files, path, "open", { follow: true });
  if (inode?.kind === "directory") throw fileError("EISDIR", "open", path);
  if (inode !== undefined) return inode.ino;
  const ino = files.create("file", FILE_MODE);
  files.link(parent, name, ino);
  return ino;
}

export function stat(files: StagedFiles, path: string): Inode {
  return walkToInode(files, path, "stat", { follow: true }).inode;
}

export function lstat(files: StagedFiles, path: string): Inode {
  return walkToInode(files, path, "lstat", { follow: false }).inode;
}

export function exists(files: StagedFiles, path: string): boolean {
  try {
    return walk(files, path, "access", { follow: true }).inode !== undefined;
  } catch {
    return false;
  }
}

/** The path without links; of a path that is not there yet, as far as it is there. */
export function realPath(files: StagedFiles, path: string): string {
  return walkToInode(files, path, "realpath", { follow: true }).realPath;
}

export function readDirectory(files: StagedFiles, path: string) {
  const { inode } = walkToInode(files, path, "scandir", { follow: true });
  if (inode.kind !== "directory") throw fileError("ENOTDIR", "scandir", path);
  return files.entries(inode.ino);
}

export function makeDirectory(files: StagedFiles, path: string, options: { recursive: boolean }): void {
  const walked = walkMaking(files, path, options.recursive);
  if (walked.inode !== undefined) {
    if (!options.recursive) throw fileError("EEXIST", "mkdir", path);
    if (walkToInode(files, path, "mkdir", { follow: true }).inode.kind === "directory") return;
    throw fileError("EEXIST", "mkdir", path);
  }
  files.link(walked.parent, walked.name, files.create("directory", DIRECTORY_MODE));
}

function walkMaking(files: StagedFiles, path: string, isRecursive: boolean) {
  try {
    return walk(files, path, "mkdir", { follow: false });
  } catch (error) {
    const parent = parentOf(path);
    if (!isRecursive || parent === path || !hasFileErrorCode(error, "ENOENT")) throw error;
    makeDirectory(files, parent, { recursive: true });
    return walk(files, path, "mkdir", { follow: false });
  }
}

export interface RemoveOptions {
  recursive: boolean;
  /** Nothing there is no error. */
  force: boolean;
  /** An empty directory goes without `recursive`, as with `rmdir`. */
  emptyDirectory: boolean;
}

/** Removes a file, a link, an empty directory, or with `recursive` a tree. */
export function remove(files: StagedFiles, path: string, options: RemoveOptions): void {
  let walked: ReturnType<typeof walk>;
  try {
    walked = walkToInode(files, path, "rm", { follow: false });
  } catch (error) {
    if (options.force && hasFileErrorCode(error, "ENOENT")) return;
    throw error;
  }
  const { parent, name, inode } = walked;
  if (inode === undefined) return;
  if (name === "") throw fileError("EBUSY", "rm", path);
  if (inode.kind === "directory") {
    if (!options.recursive && files.entries(inode.ino).length > 0) throw fileError("ENOTEMPTY", "rm", path);
    if (!options.recursive && !options.emptyDirectory) throw fileError("EISDIR", "rm", path);
    if (isDevice(inode.ino)) throw fileError("EBUSY", "rm", path);
    emptyDirectory(files, inode.ino);
  }
  files.unlink(parent, name);
}

function emptyDirectory(files: StagedFiles, directory: number): void {
  for (const entry of files.entries(directory)) {
    if (entry.kind === "directory") emptyDirectory(files, entry.ino);
    files.unlink(directory, entry.name);
  }
}

/** `rename(2)`: replaces a file by a file and an empty directory by a directory. */
export function rename(files: StagedFiles, from: string, to: string): void {
  const source = walk(files, from, "rename", { follow: false });
  const target = walk(files, to, "rename", { follow: false });
  const moved = source.inode;
  const there = target.inode;
  if (moved === undefined) throw fileError("ENOENT", "rename", from);
  if (source.name === "" || target.name === "") throw fileError("EBUSY", "rename", from);
  if (there?.ino === moved.ino) return;
  if (isWithin(target.realPath, source.realPath)) throw fileError("EINVAL", "rename", from);
  if (isWithin(source.realPath, target.realPath)) throw fileError("ENOTEMPTY", "rename", to);
  if (moved.kind !== "directory" && there?.kind === "directory") throw fileError("EISDIR", "rename", to);
  if (moved.kind === "directory" && there !== undefined) {
    if (there.kind !== "directory") throw fileError("ENOTDIR", "rename", to);
    if (files.entries(there.ino).length > 0) throw fileError("ENOTEMPTY", "rename", to);
  }
  files.link(target.parent, target.name, moved.ino);
  files.unlink(source.parent, source.name);
}

/** A copy with the mode of its source; into an existing file it goes in place. Links inside a tree are copied as links. */
export function copy(files: StagedFiles, from: string, to: string, options: { recursive: boolean }): void {
  const source = walkToInode(files, from, "cp", { follow: !options.recursive });
  const { inode } = source;
  if (inode.kind === "directory") {
    if (!options.recursive) throw fileError("EISDIR", "cp", from);
    const target = walk(files, to, "cp", { follow: true });
    if (isWithin(target.realPath, source.realPath)) throw fileError("EINVAL", "cp", to);
    makeDirectory(files, to, { recursive: true });
    if (target.inode === undefined) files.setMode(stat(files, to).ino, inode.mode);
    for (const { name } of files.entries(inode.ino)) copy(files, join(from, name), join(to, name), options);
  } else if (inode.kind === "symlink") {
    if (walk(files, to, "cp", { follow: false }).inode !== undefined) {
      remove(files, to, { recursive: false, force: true, emptyDirectory: false });
    }
    makeSymlink(files, inode.target ?? "", to);
  } else {
    const isNew = walk(files, to, "cp", { follow: true }).inode === undefined;
    writeFile(files, to, files.content(inode.ino));
    if (isNew) files.setMode(stat(files, to).ino, inode.mode & 0o777);
  }
}

export function makeSymlink(files: StagedFiles, target: string, path: string): void {
  const walked = walk(files, path, "symlink", { follow: false });
  if (walked.inode !== undefined) throw fileError("EEXIST", "symlink", path);
  if (target === "") throw fileError("ENOENT", "symlink", path);
  files.link(walked.parent, walked.name, files.create("symlink", LINK_MODE, target));
}

export function makeHardLink(files: StagedFiles, existing: string, path: string): void {
  const source = walkToInode(files, existing, "link", { follow: false });
  const walked = walk(files, path, "link", { follow: false });
  if (walked.inode !== undefined) throw fileError("EEXIST", "link", path);
  if (source.inode.kind === "directory") throw fileError("EPERM", "link", existing);
  files.link(walked.parent, walked.name, source.inode.ino);
}

export function readLink(files: StagedFiles, path: string): string {
  const { inode } = walkToInode(files, path, "readlink", { follow: false });
  if (inode.kind !== "symlink") throw fileError("EINVAL", "readlink", path);
  return inode.target ?? "";
}

export function changeMode(files: StagedFiles, path: string, mode: number): void {
  files.setMode(walkToInode(files, path, "chmod", { follow: true }).inode.ino, mode & 0o7777);
}

export function changeTime(files: StagedFiles, path: string, mtimeMs: number): void {
  files.setTime(walkToInode(files, path, "utime", { follow: true }).inode.ino, mtimeMs);
}

export function join(directory: string, name: string): string {
  return directory === "/" ? `/${name}` : `${directory}/${name}`;
}

function parentOf(path: string): string {
  const trimmed = path.replace(/\/+$/, "");
  return trimmed.slice(0, Math.max(1, trimmed.lastIndexOf("/"))) || "/";
}

/** Whether `path` is `directory` or lies below it. */
function isWithin(path: string, directory: string): boolean {
  return path === directory || path.startsWith(directory === "/" ? "/" : `${directory}/`);
}
