/**
 * The filesystem just-bash sees: its `IFileSystem` over a staged view.
 *
 * just-bash hands text and bytes about as strings; a string with the encoding `binary` holds one byte a unit. Writing to
 * `/dev/stdout` and the like is the shell's own business and goes nowhere here.
 */
import type { BufferEncoding, FileContent, FsStat, IFileSystem } from "just-bash";
import { decodeText } from "../../decode-text.ts";
import type { Inode } from "../../file-store.ts";
import * as operations from "./file-operations.ts";
import { resolveLexically } from "./path-walk.ts";
import type { StagedFiles } from "./staged-files.ts";

/** Calls between two pauses, so that timers and other requests get their turn during a long command. */
const CALLS_PER_PAUSE = 512;

type EncodingOption = { encoding?: BufferEncoding | null } | BufferEncoding | undefined;

/** `pause` resolves in a later turn of the event loop. */
export function shellFiles(files: StagedFiles, pause: () => Promise<void>): IFileSystem {
  let calls = 0;
  const call = async <T>(work: () => T): Promise<T> => {
    calls += 1;
    if (calls % CALLS_PER_PAUSE === 0) await pause();
    return work();
  };
  return {
    readFile: (path, options) => call(() => decode(operations.readFile(files, path), encodingOf(options))),
    // The library's opaque byte string is at run time a string with one byte a unit.
    readFileBytes: (path) => call(() => latin1Of(operations.readFile(files, path)) as unknown as ByteString),
    readFileBuffer: (path) => call(() => operations.readFile(files, path)),
    writeFile: (path, content, options) =>
      call(() => operations.writeFile(files, path, encode(content, encodingOf(options)))),
    appendFile: (path, content, options) =>
      call(() => operations.appendFile(files, path, encode(content, encodingOf(options)))),
    exists: (path) => call(() => operations.exists(files, path)),
    stat: (path) => call(() => statOf(operations.stat(files, path))),
    lstat: (path) => call(() => statOf(operations.lstat(files, path))),
    mkdir: (path, options) =>
      call(() => operations.makeDirectory(files, path, { recursive: options?.recursive ?? false })),
    readdir: (path) => call(() => operations.readDirectory(files, path).map(({ name }) => name)),
    readdirWithFileTypes: (path) =>
      call(() =>
        operations.readDirectory(files, path).map(({ name, kind }) => ({
          name,
          isFile: kind === "file",
          isDirectory: kind === "directory",
          isSymbolicLink: kind === "symlink",
        })),
      ),
    rm: (path, options) =>
      call(() =>
        operations.remove(files, path, {
          recursive: options?.recursive ?? false,
          force: options?.force ?? false,
          emptyDirectory: true,
        }),
      ),
    cp: (from, to, options) => call(() => operations.copy(files, from, to, { recursive: options?.recursive ?? false })),
    mv: (from, to) => call(() => operations.rename(files, from, to)),
    resolvePath: resolveLexically,
    // Only for `ls`, which would match its arguments once more against them all, with a matcher that backtracks. The shell
    // has matched them already.
    getAllPaths: () => [],
    chmod: (path, mode) => call(() => operations.changeMode(files, path, mode)),
    symlink: (target, path) => call(() => operations.makeSymlink(files, target, path)),
    link: (existing, path) => call(() => operations.makeHardLink(files, existing, path)),
    readlink: (path) => call(() => operations.readLink(files, path)),
    realpath: (path) => call(() => operations.realPath(files, path)),
    utimes: (path, _atime, mtime) => call(() => operations.changeTime(files, path, mtime.getTime())),
  };
}

type ByteString = Awaited<ReturnType<NonNullable<IFileSystem["readFileBytes"]>>>;

function statOf(inode: Inode): FsStat {
  return {
    isFile: inode.kind === "file",
    isDirectory: inode.kind === "directory",
    isSymbolicLink: inode.kind === "symlink",
    mode: inode.mode,
    size: inode.size,
    mtime: new Date(inode.mtimeMs),
    dev: 1,
    ino: inode.ino,
  };
}

function encodingOf(options: EncodingOption): BufferEncoding {
  return (typeof options === "string" ? options : options?.encoding) ?? "utf8";
}

function decode(bytes: Uint8Array, encoding: BufferEncoding): string {
  switch (encoding) {
    case "binary":
    case "latin1":
    case "ascii":
      return latin1Of(bytes);
    case "base64":
      return btoa(latin1Of(bytes));
    case "hex":
      return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
    default:
      return decodeText(bytes);
  }
}

function encode(content: FileContent, encoding: BufferEncoding): Uint8Array {
  if (typeof content !== "string") return content;
  switch (encoding) {
    case "binary":
    case "latin1":
    case "ascii":
      return bytesOfLatin1(content);
    case "base64":
      return bytesOfLatin1(atob(content));
    case "hex":
      return Uint8Array.from(content.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
    default:
      return new TextEncoder().encode(content);
  }
}

function latin1Of(bytes: Uint8Array): string {
  const parts: string[] = [];
  for (let start = 0; start < bytes.length; start += 8192) {
    parts.push(String.fromCharCode(...bytes.subarray(start, start + 8192)));
  }
  return parts.join("");
}

/** just-bash calls text `binary` by its first 8 KB: a unit above 255 later on shows that it is text after all. */
function bytesOfLatin1(text: string): Uint8Array {
  const bytes = new Uint8Array(text.length);
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index);
    if (unit > 0xff) return new TextEncoder().encode(text);
    bytes[index] = unit;
  }
  return bytes;
}
