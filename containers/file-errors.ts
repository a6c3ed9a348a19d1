/** The error texts of Node's `fs`, which the tools pass on and the models know. Source: contract TOOLS 13.1. */

const MESSAGES = {
  ENOENT: "no such file or directory",
  EISDIR: "illegal operation on a directory",
  ENOTDIR: "not a directory",
  EEXIST: "file already exists",
  ENOTEMPTY: "directory not empty",
  ELOOP: "too many symbolic links encountered",
  EINVAL: "invalid argument",
  EACCES: "permission denied",
  EPERM: "operation not permitted",
  EBUSY: "resource busy or locked",
  ENOSPC: "no space left on device",
  ENAMETOOLONG: "name too long",
} as const;

export type FileErrorCode = keyof typeof MESSAGES;

/** `ENOENT: no such file or directory, open '/workspace/nope'`, with `code`, `syscall` and `path` as Node sets them. */
export function fileError(code: FileErrorCode, syscall: string, path: string): Error {
  return Object.assign(new Error(`${code}: ${MESSAGES[code]}, ${syscall} '${path}'`), { code, syscall, path });
}

/** What the C library says of a failed system call, and the code it stands for. */
const CODES: Readonly<Record<string, FileErrorCode>> = {
  "No such file or directory": "ENOENT",
  "Is a directory": "EISDIR",
  "Not a directory": "ENOTDIR",
  "File exists": "EEXIST",
  "Directory not empty": "ENOTEMPTY",
  "Too many levels of symbolic links": "ELOOP",
  "Invalid argument": "EINVAL",
  "Permission denied": "EACCES",
  "Operation not permitted": "EPERM",
  "Device or resource busy": "EBUSY",
  "No space left on device": "ENOSPC",
  "File name too long": "ENAMETOOLONG",
};

/** The code behind the last line that a program printed in the C locale (`cat: /x: Is a directory`). */
export function readFileErrorCode(said: string): FileErrorCode | undefined {
  const [, reason = ""] = /: ([^:\n]+)$/.exec(said.trim()) ?? [];
  return CODES[reason];
}

/** A name ends at a NUL byte everywhere but here: refused, as by Node. */
export function nulByteError(path: string): Error {
  const shown = path.replaceAll("\0", "\\x00");
  const text = `The argument 'path' must be a string, Uint8Array, or URL without null bytes. Received '${shown}'`;
  return Object.assign(new TypeError(text), { code: "ERR_INVALID_ARG_VALUE" });
}

export function hasFileErrorCode(error: unknown, ...codes: FileErrorCode[]): boolean {
  return error instanceof Error && "code" in error && codes.some((code) => code === error.code);
}
