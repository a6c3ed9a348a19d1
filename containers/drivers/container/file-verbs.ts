/**
 * The file verbs as small shell programs inside the container, with Node's error texts.
 *
 * A path is an argument of its own, never part of a program's text. What a program says of a failed system call, in the
 * C locale, is turned into the code and text Node would give.
 *
 * Source: contract TOOLS 12, 13.1, D21, D26.
 */
import { MAX_CONTAINER_FILE_BYTES } from "../../../durable-objects/protocol/limits.ts";
import type { ProgramResult } from "../../container-rpc.ts";
import { decodeText } from "../../decode-text.ts";
import type { SandboxDriver } from "../../driver.ts";
import { type FileErrorCode, fileError, nulByteError, readFileErrorCode } from "../../file-errors.ts";
import type { FileStat } from "../../sandbox.ts";

/** Runs one of the programs below over a path; `operation` names the verb in errors. */
export interface FileProgram {
  operation: string;
  script: string;
  path: string;
  stdin?: Uint8Array;
  /** The most bytes the program prints. */
  maxBytes: number;
}

export type RunFileProgram = (program: FileProgram) => Promise<ProgramResult>;

const MAX_LISTING_BYTES = 16 * 1024 * 1024;
const MAX_LINE_BYTES = 16 * 1024;
const READ_TIMEOUT_S = 10;

/** The programs' own exit codes (code and system call on stderr for the last but one); anything else is that of the program that failed. */
const EXIT_KIND = 91;
const EXIT_TOO_LARGE = 92;
const EXIT_CODE_ON_STDERR = 93;
const EXIT_TIMEOUT = 124;

const REFUSE_SPECIAL = `if [ -e "$1" ] && [ ! -f "$1" ]; then stat -L -c %F -- "$1" >&2; exit ${EXIT_KIND}; fi`;
const SCRIPTS = {
  read: `if [ -d "$1" ]; then echo EISDIR read >&2; exit ${EXIT_CODE_ON_STDERR}; fi
${REFUSE_SPECIAL}
if [ "$(stat -L -c %s -- "$1" 2>/dev/null || echo 0)" -gt ${MAX_CONTAINER_FILE_BYTES} ]; then exit ${EXIT_TOO_LARGE}; fi
exec timeout -s KILL ${READ_TIMEOUT_S} cat -- "$1"`,
  write: `if [ ! -d "$1" ] && [ ! -c "$1" ]; then ${REFUSE_SPECIAL}; fi
cat > "$1"`,
  stat: `stat -L -c %s/%.3Y/%F -- "$1" && stat -c %F -- "$1"`,
  readdir: `if [ -e "$1" ] && [ ! -d "$1" ]; then echo ENOTDIR scandir >&2; exit ${EXIT_CODE_ON_STDERR}; fi
exec find -H "$1" -mindepth 1 -maxdepth 1 -printf '%f\\0'`,
  exists: `[ -e "$1" ]`,
  mkdir: `exec mkdir -- "$1"`,
  mkdirParents: `exec mkdir -p -- "$1"`,
  realPath: `exec readlink -mz -- "$1"`,
} as const;

function decode(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}

function failure(program: FileProgram, syscall: string, { exitCode, stderr }: ProgramResult): Error {
  const { path, operation } = program;
  const said = decode(stderr).trim();
  if (exitCode === EXIT_KIND) return new Error(`${path} is not a regular file (${said}).`);
  if (exitCode === EXIT_TOO_LARGE) {
    return new Error(`${path} is larger than ${MAX_CONTAINER_FILE_BYTES} bytes; look at parts of it with a command.`);
  }
  if (exitCode === EXIT_TIMEOUT) return new Error(`${path} could not be read within ${READ_TIMEOUT_S} seconds.`);
  if (exitCode === EXIT_CODE_ON_STDERR) {
    const [own = "", at = syscall] = (said.split("\n").at(-1) ?? "").split(" ");
    return fileError(own as FileErrorCode, at, path);
  }
  const code = readFileErrorCode(said);
  return code ? fileError(code, syscall, path) : new Error(`${operation} failed for ${path}: ${said || exitCode}`);
}

function parseStat(output: string): FileStat {
  const [target = "", itself = ""] = output.split("\n");
  const [size, seconds, ...kind] = target.split("/");
  const name = kind.join("/");
  return {
    isFile: name.startsWith("regular"),
    isDirectory: name === "directory",
    isSymbolicLink: itself === "symbolic link",
    size: Number(size),
    mtime: new Date(Math.round(Number(seconds) * 1000)),
  };
}

type FileVerbs = Omit<SandboxDriver, "exec" | "search" | "keyedExec" | "generation">;

export function containerFileVerbs(run: RunFileProgram): FileVerbs {
  async function succeed(program: FileProgram, syscall: string): Promise<Uint8Array> {
    if (program.path.includes("\0")) throw nulByteError(program.path);
    const result = await run(program);
    if (result.exitCode !== 0) throw failure(program, syscall, result);
    return result.stdout;
  }

  async function read(path: string): Promise<Uint8Array> {
    const program = { operation: "readFile", script: SCRIPTS.read, path, maxBytes: MAX_CONTAINER_FILE_BYTES };
    return succeed(program, "open");
  }

  return {
    readFile: async (path) => decodeText(await read(path)),
    readFileBuffer: read,
    async writeFile(path, content) {
      const stdin = typeof content === "string" ? new TextEncoder().encode(content) : content;
      if (stdin.length > MAX_CONTAINER_FILE_BYTES) {
        throw new Error(`${path} would be larger than ${MAX_CONTAINER_FILE_BYTES} bytes. Nothing was written.`);
      }
      await succeed({ operation: "writeFile", script: SCRIPTS.write, path, stdin, maxBytes: MAX_LINE_BYTES }, "open");
    },
    async stat(path) {
      const program = { operation: "stat", script: SCRIPTS.stat, path, maxBytes: MAX_LINE_BYTES };
      return parseStat(decode(await succeed(program, "stat")));
    },
    async readdir(path) {
      const program = { operation: "readdir", script: SCRIPTS.readdir, path, maxBytes: MAX_LISTING_BYTES };
      return decode(await succeed(program, "scandir"))
        .split("\0")
        .slice(0, -1);
    },
    async exists(path) {
      const program = { operation: "exists", script: SCRIPTS.exists, path, maxBytes: MAX_LINE_BYTES };
      return succeed(program, "access").then(
        () => true,
        () => false,
      );
    },
    async mkdir(path, options) {
      const script = options?.recursive ? SCRIPTS.mkdirParents : SCRIPTS.mkdir;
      await succeed({ operation: "mkdir", script, path, maxBytes: MAX_LINE_BYTES }, "mkdir");
    },
    async rm(path, options) {
      const flags = `${options?.force ? "-f " : ""}${options?.recursive ? "-r " : ""}`;
      const script = `exec rm ${flags}-- "$1"`;
      await succeed({ operation: "rm", script, path, maxBytes: MAX_LINE_BYTES }, "rm");
    },
    async realPath(path) {
      const program = { operation: "realPath", script: SCRIPTS.realPath, path, maxBytes: MAX_LINE_BYTES };
      return decode(await succeed(program, "realpath")).replace(/\0$/, "");
    },
  };
}
