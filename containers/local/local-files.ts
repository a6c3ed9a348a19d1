/**
 * The file verbs of `local()`: Node's `fs`, whose error texts pass through.
 *
 * Source: contract TOOLS 13.1, D21, D26. Writing is in place: inode, mode and links stay.
 */
import { constants, type Stats } from "node:fs";
import * as fs from "node:fs/promises";
import { MAX_LOCAL_FILE_BYTES, type PathCall, type StatAnswer } from "./local-protocol.ts";

/** Opening a pipe or a terminal must not wait for its other end. */
const READ = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY;

function kindOf(stats: Stats): string | undefined {
  if (stats.isFIFO()) return "named pipe";
  if (stats.isSocket()) return "socket";
  if (stats.isCharacterDevice()) return "character device";
  if (stats.isBlockDevice()) return "block device";
  return undefined;
}

function notRegular(path: string, kind: string): Error {
  return new Error(`${path} is not a regular file: it is a ${kind}.`);
}

export async function readFile({ path }: PathCall): Promise<Uint8Array> {
  // Opening a socket fails in words that do not tell what it is.
  const found = await fs.stat(path).catch(() => undefined);
  const kind = found && kindOf(found);
  if (kind) throw notRegular(path, kind);
  const file = await fs.open(path, READ);
  try {
    const stats = await file.stat();
    const swapped = kindOf(stats);
    if (swapped) throw notRegular(path, swapped);
    if (stats.size > MAX_LOCAL_FILE_BYTES) {
      throw new Error(
        `${path} has ${stats.size} bytes, more than the ${MAX_LOCAL_FILE_BYTES} that can be read at once.`,
      );
    }
    return await file.readFile();
  } finally {
    await file.close();
  }
}

export async function writeFile({ path }: PathCall, bytes: Uint8Array): Promise<void> {
  const found = await fs.stat(path).catch(() => undefined);
  if (found?.isFIFO() || found?.isSocket()) throw notRegular(path, kindOf(found) ?? "");
  await fs.writeFile(path, bytes);
}

export async function stat({ path }: PathCall): Promise<StatAnswer> {
  const [itself, target] = await Promise.all([fs.lstat(path), fs.stat(path)]);
  return {
    isFile: target.isFile(),
    isDirectory: target.isDirectory(),
    isSymbolicLink: itself.isSymbolicLink(),
    size: target.size,
    mtimeMs: target.mtimeMs,
  };
}

export function readdir({ path }: PathCall): Promise<string[]> {
  return fs.readdir(path);
}

export function exists({ path }: PathCall): Promise<boolean> {
  return fs.access(path).then(
    () => true,
    () => false,
  );
}

export async function mkdir({ path, recursive = false }: PathCall): Promise<void> {
  await fs.mkdir(path, { recursive });
}

export function rm({ path, recursive = false, force = false }: PathCall): Promise<void> {
  return fs.rm(path, { recursive, force });
}

export function realPath({ path }: PathCall): Promise<string> {
  return fs.realpath(path);
}
