/**
 * The file verbs over the SDK: bytes travel as base64 and are exact, large files in parts that fit an RPC message.
 *
 * What a path leads to is asked first, since the SDK says of a directory that it is not there and waits for ever at a pipe
 * (D21). Programs run in `/`, so that a workspace that was removed hinders none of them.
 *
 * Source: contract TOOLS 13.3, D2, D21, D26.
 */
import {
  MAX_SANDBOX_FILE_BYTES,
  SANDBOX_CHUNK_BYTES,
  SANDBOX_HELPER_TIMEOUT_MS,
} from "../../../durable-objects/protocol/limits.ts";
import { decodeText } from "../../decode-text.ts";
import type { SandboxDriver } from "../../driver.ts";
import type { FileStat } from "../../sandbox.ts";
import { shellQuote } from "../../shell-quote.ts";
import { decodeBase64, encodeBase64 } from "./base64.ts";
import type { GuardedCall } from "./guarded-calls.ts";

export interface FileVerbsOptions {
  call: GuardedCall;
  /** A word no other call is given: names the parts of one large write. */
  newToken(): string;
}

export type FileVerbs = Pick<
  SandboxDriver,
  "readFile" | "readFileBuffer" | "writeFile" | "stat" | "readdir" | "exists" | "mkdir" | "rm" | "realPath"
>;

interface Answer {
  success: boolean;
  stdout: string;
  stderr: string;
}

interface PathFacts {
  size: number;
  mtimeMs: number;
  /** As `stat` names it: `regular file`, `directory`, `fifo`. */
  kind: string;
}

export function fileVerbs({ call, newToken }: FileVerbsOptions): FileVerbs {
  const run = (operation: string, command: string): Promise<Answer> =>
    call(operation, async (stub) => {
      const answer = await stub.exec(command, { cwd: "/", timeout: SANDBOX_HELPER_TIMEOUT_MS });
      const exitCode = answer.exitCode ?? (answer.success ? 0 : 1);
      return { success: exitCode === 0, stdout: answer.stdout ?? "", stderr: answer.stderr ?? "" };
    });

  const factsOf = (target: string): PathFacts | undefined => {
    const [size = "", seconds = "", ...kind] = target.split("/");
    if (!/^\d+$/.test(size) || !/^-?\d+$/.test(seconds)) return undefined;
    return { size: Number(size), mtimeMs: Number(seconds) * 1000, kind: kind.join("/") };
  };

  async function readBytes(path: string): Promise<Uint8Array> {
    const answer = await run("readFile", `LC_ALL=C stat -L -c '%s/%Y/%F' -- ${shellQuote(path)}`);
    const facts = answer.success ? factsOf(answer.stdout.trim()) : undefined;
    if (facts !== undefined) throwIfUnreadable(path, facts);
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
    const part = `tail -c +${from + 1} -- ${shellQuote(path)} | head -c ${SANDBOX_CHUNK_BYTES} | base64 -w0`;
    const { success, stdout, stderr } = await run("readFile", `set -o pipefail; ${part}`);
    // The tail is cut short by the head that has enough.
    if (!success && stdout === "") throw new Error(`readFile failed for ${path}: ${stderr}`);
    return decodeBase64(stdout);
  }

  async function writeBytes(path: string, bytes: Uint8Array): Promise<void> {
    if (bytes.length > MAX_SANDBOX_FILE_BYTES) throw tooLarge(path, bytes.length);
    if (bytes.length <= SANDBOX_CHUNK_BYTES) {
      await call("writeFile", (stub) => stub.writeFile(path, encodeBase64(bytes), { encoding: "base64" }));
      return;
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
      const { success, stderr } = await run("writeFile", `cat -- ${parts.join(" ")} > ${shellQuote(path)}`);
      if (!success) throw new Error(`writeFile failed for ${path}: ${stderr}`);
    } finally {
      await run("writeFile", `rm -f -- ${parts.join(" ")}`).catch(() => {});
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
      const q = shellQuote(path);
      const answer = await run("stat", `LC_ALL=C stat -L -c '%s/%Y/%F' ${q} && LC_ALL=C stat -c '%F' ${q}`);
      const [target = "", itself = ""] = answer.stdout.trim().split("\n");
      const facts = factsOf(target);
      if (!answer.success || facts === undefined) throw new Error(`stat failed for ${path}: ${answer.stderr}`);
      return {
        isFile: facts.kind.includes("regular"),
        isDirectory: facts.kind === "directory",
        isSymbolicLink: itself === "symbolic link",
        size: facts.size,
        mtime: new Date(facts.mtimeMs),
      };
    },
    async readdir(path) {
      const q = shellQuote(path);
      // The slash makes find look into a folder behind a link, and refuse what is no folder.
      const answer = await run("readdir", `find ${q}/ -mindepth 1 -maxdepth 1 -printf '%f\\0'`);
      if (!answer.success) throw new Error(`readdir failed for ${path}: ${answer.stderr}`);
      return answer.stdout.split("\0").filter((name) => name !== "");
    },
    async exists(path) {
      try {
        return (await call("exists", (stub) => stub.exists(path))).exists;
      } catch {
        return false;
      }
    },
    async mkdir(path, options) {
      await call("mkdir", (stub) => stub.mkdir(path, options));
    },
    async rm(path, { recursive = false, force = false } = {}) {
      if (!recursive && !force) {
        await call("rm", (stub) => stub.deleteFile(path));
        return;
      }
      const flags = `${force ? "-f " : ""}${recursive ? "-r " : ""}`;
      const { success, stderr } = await run("rm", `rm ${flags}-- ${shellQuote(path)}`);
      if (!success) throw new Error(`rm failed for ${path}: ${stderr}`);
    },
    async realPath(path) {
      const { success, stdout } = await run("realPath", `realpath -mz -- ${shellQuote(path)}`);
      return success && stdout !== "" ? stdout.replace(/\0$/, "") : path;
    },
  };
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
