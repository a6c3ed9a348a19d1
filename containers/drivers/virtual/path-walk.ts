/**
 * POSIX path resolution over a staged view: component by component, links followed where they stand.
 *
 * Paths are absolute. `..` after a link goes up from the link's target, as in a kernel; callers that want the lexical
 * meaning normalise first. More than `MAX_LINKS` links on one way is ELOOP.
 */

import { fileError, nulByteError } from "../../file-errors.ts";
import type { Inode } from "../../file-store.ts";
import type { StagedFiles } from "./staged-files.ts";

const MAX_LINKS = 40;
const MAX_NAME_BYTES = 255;

export interface Walked {
  /** The directory that holds the last component, and that component; the root is its own parent under `""`. */
  parent: number;
  name: string;
  /** What the last component leads to; absent when only it is missing. */
  inode: Inode | undefined;
  /** Without any link (save the last, when it is not followed). */
  realPath: string;
}

interface Step {
  ino: number;
  name: string;
}

/** Walks to `path`; throws when anything but the last component is missing or is no directory. */
export function walk(files: StagedFiles, path: string, syscall: string, options: { follow: boolean }): Walked {
  if (path.includes("\0")) throw nulByteError(path);
  const pending = components(path).reverse();
  const mustBeDirectory = path.length > 1 && path.endsWith("/");
  const way: Step[] = [];
  let links = 0;
  for (;;) {
    const name = pending.pop();
    if (name === undefined) break;
    if (name === "..") {
      way.pop();
      continue;
    }
    if (name.length * 3 > MAX_NAME_BYTES && new TextEncoder().encode(name).byteLength > MAX_NAME_BYTES) {
      throw fileError("ENAMETOOLONG", syscall, path);
    }
    const parent = way.at(-1)?.ino ?? files.rootIno;
    const inode = childOf(files, parent, name);
    if (inode?.kind === "symlink" && (pending.length > 0 || options.follow || mustBeDirectory)) {
      links += 1;
      if (links > MAX_LINKS) throw fileError("ELOOP", syscall, path);
      const target = inode.target ?? "";
      if (target.startsWith("/")) way.length = 0;
      pending.push(...components(target).reverse());
      continue;
    }
    if (pending.length === 0) {
      if (mustBeDirectory && inode !== undefined && inode.kind !== "directory") {
        throw fileError("ENOTDIR", syscall, path);
      }
      return { parent, name, inode, realPath: pathOf([...way, { ino: inode?.ino ?? 0, name }]) };
    }
    if (inode === undefined) throw fileError("ENOENT", syscall, path);
    if (inode.kind !== "directory") throw fileError("ENOTDIR", syscall, path);
    way.push({ ino: inode.ino, name });
  }
  const last = way.at(-1);
  const inode = files.inode(last?.ino ?? files.rootIno);
  const parent = way.at(-2)?.ino ?? files.rootIno;
  return { parent, name: last?.name ?? "", inode, realPath: pathOf(way) };
}

/** As `walk`, but the last component must be there. */
export function walkToInode(
  files: StagedFiles,
  path: string,
  syscall: string,
  options: { follow: boolean },
): Walked & { inode: Inode } {
  const walked = walk(files, path, syscall, options);
  if (walked.inode === undefined) throw fileError("ENOENT", syscall, path);
  return { ...walked, inode: walked.inode };
}

/** An absolute path without `.`, `..` and doubled slashes; links are not looked at. */
export function resolveLexically(base: string, path: string): string {
  const names: string[] = [];
  for (const name of (path.startsWith("/") ? path : `${base}/${path}`).split("/")) {
    if (name === "..") names.pop();
    else if (name !== "" && name !== ".") names.push(name);
  }
  return `/${names.join("/")}`;
}

function childOf(files: StagedFiles, directory: number, name: string): Inode | undefined {
  const entry = files.entry(directory, name);
  return entry === undefined ? undefined : files.inode(entry.ino);
}

function components(path: string): string[] {
  return path.split("/").filter((name) => name !== "" && name !== ".");
}

function pathOf(way: readonly Step[]): string {
  return `/${way.map((step) => step.name).join("/")}`;
}
