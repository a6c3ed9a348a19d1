/**
 * The file verbs: programs of the user's look at a path, change it and write it; the SDK's calls, which act as root, move
 * bytes and say whether a path is there. Bytes travel as base64 and are exact, in parts that fit an RPC message where there
 * are many.
 *
 * What a path leads to is asked first, since the SDK says of a directory that it is not there and waits for ever at a pipe
 * (D21), and reads what the user may not. A file is written through the user's own shell: in place, so that mode, inode and
 * links stay (D26), and as the user's own where it is new.
 *
 * Source: contract TOOLS 13.3, D2, D21, D26.
 */
import {
  MAX_SANDBOX_FILE_BYTES,
  MAX_SANDBOX_INLINE_BYTES,
  SANDBOX_CHUNK_BYTES,
} from "../../../durable-objects/protocol/limits.ts";
import { decodeText } from "../../decode-text.ts";
import type { SandboxDriver } from "../../driver.ts";
import { fileError, readFileErrorCode } from "../../file-errors.ts";
import type { FileStat } from "../../sandbox.ts";
import { shellQuote } from "../../shell-quote.ts";
import { decodeBase64, encodeBase64 } from "./base64.ts";
import type { GuardedCall } from "./guarded-calls.ts";
import { programFailure, type UserPrograms } from "./user-programs.ts";

export interface FileVerbsOptions {
  call: GuardedCall;
  programs: UserPrograms;
  /** A word no other call is given: names the parts of one large write. */
  newToken(): string;
}

export type FileVerbs = Pick<
  SandboxDriver,
  "readFile" | "readFileBuffer" | "writeFile" | "stat" | "readdir" | "exists" | "mkdir" | "rm" | "realPath"
>;

interface PathFacts {
  size: number;
  mtimeMs: number;
  /** As `stat` names it: `regular file`, `directory`, `fifo`. */
  kind: string;
}

const STAT = `stat -L -c %s/%Y/%F -- "$1"`;
/** A pipe would wait for its reader. */
const WRITE = `if [ -p "$1" ]; then echo "it is a fifo" >&2; exit 1; fi; cat > "$1"`;

export function fileVerbs({ call, programs, newToken }: FileVerbsOptions): FileVerbs {
  async function readBytes(path: string): Promise<Uint8Array> {
    const looked = await programs.run({ operation: "readFile", script: `${STAT} && [ -r "$1" ]`, path });
    const facts = parseFacts(looked.stdout.trim());
    if (facts !== undefined) throwIfUnreadable(path, facts);
    const isForbidden = facts === undefined ? readFileErrorCode(looked.stderr) === "EACCES" : !looked.success;
    if (isForbidden) throw fileError("EACCES", "open", path);
    if (facts !== undefined && facts.size > SANDBOX_CHUNK_BYTES) return readParts(path, facts.size);
    // Files the kernel makes up have no size to read by.
    if (facts?.size === 0 && /^\/(?:proc|sys)\//.test(path)) return readPart(path, 0);
    const { content, encoding } = await call("readFile", (stub) => stub.readFile(path, { encoding: "base64" }));
    // A stub that answers with text all the same says so.
    return encoding?.startsWith("utf") ? new TextEncoder().encode(content) : decodeBase64(content);
  }

  async function readParts(path: string, size: number): Promise<Uint8Array> {
    const whole = new Uint8Array(size);
    let length = 0;
    while (length < size) {
      const part = await readPart(path, length);
      whole.set(part.subarray(0, size - length), length);
      length += part.length;
      // The file became shorter meanwhile.
      if (part.length === 0) break;
    }
    return whole.subarray(0, Math.min(length, size));
  }

  async function readPart(path: string, from: number): Promise<Uint8Array> {
    const part = `tail -c +${from + 1} -- "$1" | head -c ${SANDBOX_CHUNK_BYTES} | base64 -w0`;
    const program = { operation: "readFile", script: `set -o pipefail; ${part}`, path };
    const { success, stdout, stderr } = await programs.run(program);
    // The tail is cut short by the head that has enough.
    if (!success && stdout === "") throw programFailure(program, stderr);
    return decodeBase64(stdout);
  }

  /** @param input a line that prints the bytes */
  async function writeFrom(path: string, input: string): Promise<void> {
    const program = { operation: "writeFile", script: WRITE, path, input };
    const { success, stderr } = await programs.run(program);
    if (success) return;
    const code = readFileErrorCode(stderr);
    throw code ? fileError(code, "open", path) : programFailure(program, stderr);
  }

  async function writeBytes(path: string, bytes: Uint8Array): Promise<void> {
    if (bytes.length > MAX_SANDBOX_FILE_BYTES) throw tooLarge(path, bytes.length);
    if (bytes.length <= MAX_SANDBOX_INLINE_BYTES) {
      return writeFrom(path, `printf %s ${shellQuote(encodeBase64(bytes))} | base64 -d`);
    }
    const parts: string[] = [];
    const token = newToken();
    try {
      for (let from = 0; from < bytes.length; from += SANDBOX_CHUNK_BYTES) {
        const part = `/tmp/.berth-write-${token}-${parts.length}`;
        parts.push(shellQuote(part));
        const content = encodeBase64(bytes.subarray(from, from + SANDBOX_CHUNK_BYTES));
        await call("writeFile", (stub) => stub.writeFile(part, content, { encoding: "base64" }));
      }
      await writeFrom(path, `cat -- ${parts.join(" ")}`);
    } finally {
      // They are the SDK's.
      await call("writeFile", (stub) => stub.exec(`rm -f -- ${parts.join(" ")}`, { cwd: "/" })).catch(() => {});
    }
  }

  return {
    async readFile(path) {
      return decodeText(await readBytes(path));
    },
    readFileBuffer: readBytes,
    async writeFile(path, content) {
      await writeBytes(path, typeof content === "string" ? new TextEncoder().encode(content) : content);
    },
    async stat(path): Promise<FileStat> {
      const program = { operation: "stat", script: `${STAT} && stat -c %F -- "$1"`, path };
      const { success, stdout, stderr } = await programs.run(program);
      const [target = "", itself = ""] = stdout.trim().split("\n");
      const facts = parseFacts(target);
      if (!success || facts === undefined) throw programFailure(program, stderr);
      return {
        isFile: facts.kind.includes("regular"),
        isDirectory: facts.kind === "directory",
        isSymbolicLink: itself === "symbolic link",
        size: facts.size,
        mtime: new Date(facts.mtimeMs),
      };
    },
    async readdir(path) {
      // The slash makes find look into a folder behind a link, and refuse what is no folder.
      const script = `find "$1"/ -mindepth 1 -maxdepth 1 -printf '%f\\0'`;
      const names = await programs.succeed({ operation: "readdir", script, path });
      return names.split("\0").filter((name) => name !== "");
    },
    async exists(path) {
      try {
        return (await call("exists", (stub) => stub.exists(path))).exists;
      } catch {
        return false;
      }
    },
    async mkdir(path, { recursive = false } = {}) {
      await programs.succeed({ operation: "mkdir", script: `mkdir ${recursive ? "-p " : ""}-- "$1"`, path });
    },
    async rm(path, { recursive = false, force = false } = {}) {
      const flags = `${force ? "-f " : ""}${recursive ? "-r " : ""}`;
      await programs.succeed({ operation: "rm", script: `rm ${flags}-- "$1"`, path });
    },
    async realPath(path) {
      const { success, stdout } = await programs.run({ operation: "realPath", script: `realpath -mz -- "$1"`, path });
      return success && stdout !== "" ? stdout.replace(/\0$/, "") : path;
    },
  };
}

function parseFacts(target: string): PathFacts | undefined {
  const [size = "", seconds = "", ...kind] = target.split("/");
  if (!/^\d+$/.test(size) || !/^-?\d+$/.test(seconds)) return undefined;
  return { size: Number(size), mtimeMs: Number(seconds) * 1000, kind: kind.join("/") };
}

function throwIfUnreadable(path: string, { kind, size }: PathFacts): void {
  if (kind === "directory") {
    throw Object.assign(new Error(`EISDIR: illegal operation on a directory, read '${path}'`), { code: "EISDIR" });
  }
  if (!kind.includes("regular")) throw new Error(`${path} is not a regular file: it is a ${kind}.`);
  if (size > MAX_SANDBOX_FILE_BYTES) throw tooLarge(path, size);
}

function tooLarge(path: string, size: number): Error {
  const limit = `${MAX_SANDBOX_FILE_BYTES} bytes can be read or written at once`;
  const text = `EFBIG: file too large, '${path}' has ${size} bytes and at most ${limit}. Use bash for parts of it.`;
  return Object.assign(new Error(text), { code: "EFBIG" });
}
