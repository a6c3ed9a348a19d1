/**
 * `bash(factory)`: any just-bash-like object as a sandbox, for tests and special shells.
 *
 * Its files live as long as the object it is given; a command cannot be found again by a key. It shares the running of a
 * command with `virtual()`, and has paths of its own: an absolute path is left as it is.
 *
 * Source: contract TOOLS 13.2, D2, D9, D14, D15.
 */
import { systemTimers, type Timers } from "../../durable-objects/protocol/clock.ts";
import { raceExecAbort } from "../abort-race.ts";
import { decodeText } from "../decode-text.ts";
import { parentPath } from "../paths.ts";
import type { FileStat, Sandbox, SandboxFactory } from "../sandbox.ts";
import { writeFileCreatingParents } from "../sandbox-from-driver.ts";
import { type CommandShell, runInBash, startDeadline } from "./bash/run-in-bash.ts";
import { type SearchTree, shellSearch } from "./bash/search.ts";

interface BashStat {
  isFile: boolean;
  isDirectory: boolean;
  isSymbolicLink?: boolean;
  size?: number;
  mtime?: Date;
}

/** The part of just-bash's `IFileSystem` that is used; paths are absolute. */
export interface BashFiles {
  readFileBuffer(path: string): Promise<Uint8Array>;
  writeFile(path: string, content: string | Uint8Array): Promise<void>;
  stat(path: string): Promise<BashStat>;
  lstat?(path: string): Promise<BashStat>;
  readdir(path: string): Promise<string[]>;
  exists(path: string): Promise<boolean>;
  mkdir(path: string, options?: { recursive?: boolean }): Promise<void>;
  rm(path: string, options?: { recursive?: boolean; force?: boolean }): Promise<void>;
  realpath?(path: string): Promise<string>;
  resolvePath(base: string, path: string): string;
}

/** What the factory returns: a `Bash` of just-bash fits. */
export interface BashLike extends CommandShell {
  getCwd(): string;
  readonly fs: BashFiles;
}

export interface BashOptions {
  timers?: Timers;
}

/** @param factory called once for each sandbox that is opened. */
export function bash(
  factory: () => BashLike | Promise<BashLike>,
  { timers = systemTimers }: BashOptions = {},
): SandboxFactory {
  return {
    kind: "bash",
    async createSandbox() {
      return sandboxOf(parseBashLike(await factory()), timers);
    },
  };
}

function parseBashLike(value: unknown): BashLike {
  const shell = value as Partial<BashLike> | null | undefined;
  if (
    typeof shell?.exec !== "function" ||
    typeof shell.getCwd !== "function" ||
    typeof shell.fs !== "object" ||
    shell.fs === null
  ) {
    throw new Error("[flue] BashFactory must return a Bash-like object.");
  }
  return shell as BashLike;
}

/** just-bash's files in memory put a file in the place of a link that is written through. */
async function followLinks(fs: BashFiles, path: string): Promise<string> {
  return (await fs.realpath?.(path).catch(() => undefined)) ?? path;
}

function sandboxOf(shell: BashLike, timers: Timers): Sandbox {
  const { fs } = shell;
  const cwd = shell.getCwd();
  const resolve = (path: string): string => (path.startsWith("/") ? path : fs.resolvePath(cwd, path));

  async function readFileBuffer(path: string): Promise<Uint8Array> {
    const resolved = resolve(path);
    const bytes = await fs.readFileBuffer(resolved);
    // Some file systems give a subclass that compares unlike the plain one.
    return new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  return {
    exec: (command, { cwd: from, env, timeoutMs, signal } = {}) =>
      raceExecAbort({
        command,
        signal,
        onOrphanSettled: undefined,
        async run() {
          const deadline = timeoutMs === undefined ? undefined : startDeadline(timeoutMs, timers);
          try {
            return await runInBash(shell, command, { cwd: from, env, deadline, signal, timers });
          } finally {
            deadline?.cancel();
          }
        },
      }),
    readFile: async (path) => decodeText(await readFileBuffer(path)),
    readFileBuffer,
    async writeFile(path, content) {
      const target = await followLinks(fs, resolve(path));
      // just-bash "succeeds" in writing over a directory.
      if (await isDirectory(fs, target)) {
        throw Object.assign(new Error(`EISDIR: illegal operation on a directory, open '${target}'`), {
          code: "EISDIR",
        });
      }
      await writeFileCreatingParents(
        () => fs.writeFile(target, content),
        () => fs.mkdir(parentPath(target), { recursive: true }),
      );
    },
    stat: (path) => statOf(fs, resolve(path)),
    readdir: async (path) => fs.readdir(resolve(path)),
    exists: async (path) => fs.exists(resolve(path)).catch(() => false),
    mkdir: async (path, options) => fs.mkdir(resolve(path), options),
    rm: async (path, options) => fs.rm(resolve(path), options),
    cwd,
    resolvePath: resolve,
    ...(fs.realpath && { realPath: async (path: string) => fs.realpath?.(resolve(path)) ?? resolve(path) }),
    // just-bash's own grep and find refuse flags that the tools' command lines need.
    search: shellSearch(() => searchTree(fs)),
    keyedExec: false,
  };
}

async function isDirectory(fs: BashFiles, path: string): Promise<boolean> {
  try {
    return (await fs.stat(path)).isDirectory;
  } catch {
    return false;
  }
}

async function statOf(fs: BashFiles, path: string): Promise<FileStat> {
  const { isFile, isDirectory: isFolder, size, mtime } = await fs.stat(path);
  const itself = await fs.lstat?.(path);
  return {
    isFile,
    isDirectory: isFolder,
    ...(itself?.isSymbolicLink !== undefined && { isSymbolicLink: itself.isSymbolicLink }),
    ...(size !== undefined && { size }),
    ...(mtime !== undefined && { mtime }),
  };
}

function searchTree(fs: BashFiles): SearchTree {
  const kindOf = async (path: string): Promise<string | undefined> => {
    try {
      const stat = await fs.stat(path);
      return stat.isFile ? "file" : stat.isDirectory ? "directory" : "other";
    } catch {
      return undefined;
    }
  };
  return {
    kindOf,
    async list(path) {
      const names = await fs.readdir(path);
      return Promise.all(
        names.map(async (name) => {
          const child = path === "/" ? `/${name}` : `${path}/${name}`;
          const isLink = (await fs.lstat?.(child).catch(() => undefined))?.isSymbolicLink === true;
          return { name, kind: isLink ? "symlink" : ((await kindOf(child)) ?? "other") };
        }),
      );
    },
    read: (path) => fs.readFileBuffer(path),
  };
}
