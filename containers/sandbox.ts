/**
 * The sandbox as tools see it, and the factory an agent attaches with `useSandbox()`.
 *
 * Source: contract TOOLS 12. Everything here is plain structure: drivers, wrappers and tools share these shapes and
 * nothing else. Paths may be relative or absolute; a relative path is resolved against `cwd`.
 */
import type { AgentTool } from "@earendil-works/pi-agent-core";
import type { ContainerNamespace } from "./container-rpc.ts";
import type { ExecResult } from "./exec-result.ts";
import type { FileStore } from "./file-store.ts";

export type { ExecResult } from "./exec-result.ts";

export interface ExecOptions {
  /** Working directory; relative paths resolve against the sandbox's `cwd`. */
  cwd?: string | undefined;
  /** Variables layered over the sandbox's own environment. */
  env?: Record<string, string> | undefined;
  /** Wall-clock limit in milliseconds; an expiry is an ordinary result with exit code 124. */
  timeoutMs?: number | undefined;
  /** Rejects promptly with an `AbortError` whose cause is the reason. */
  signal?: AbortSignal | undefined;
  /**
   * Names one execution for ever within the sandbox: the same key never runs a command twice. While it runs, a second
   * call attaches; when it has ended, its recorded outcome comes back. Absent = run once, not reattachable.
   */
  key?: string | undefined;
}

export interface FileStat {
  /** Type, size and mtime describe the target; `isSymbolicLink` describes the path itself. */
  isFile: boolean;
  isDirectory: boolean;
  isSymbolicLink?: boolean;
  /** Bytes. */
  size?: number;
  mtime?: Date;
}

export interface MkdirOptions {
  recursive?: boolean;
}

export interface RmOptions {
  recursive?: boolean;
  force?: boolean;
}

export interface GrepQuery {
  pattern: string;
  /** As written by the caller; resolved against `cwd` by the driver, printed as written. */
  path: string;
  cwd: string;
  /** File-name glob. */
  include?: string | undefined;
  literal?: boolean | undefined;
  signal?: AbortSignal | undefined;
}

export interface GlobQuery {
  pattern: string;
  path: string;
  cwd: string;
  signal?: AbortSignal | undefined;
}

/**
 * A driver's own search verbs, for a shell that cannot run the tools' search programs (TOOLS 15, D15).
 * Answers have the shape of the programs' own: `path:line:text` and `path` lines, exit 0 hits, 1 none, above 1 a fault
 * with its message on stderr.
 */
export interface SandboxSearch {
  grep(query: GrepQuery): Promise<ExecResult>;
  glob(query: GlobQuery): Promise<ExecResult>;
}

export interface Sandbox {
  /** Resolves for every completed command, whatever its exit code; rejects only for transport failure and abort. */
  exec(command: string, options?: ExecOptions): Promise<ExecResult>;
  /** UTF-8 text; throws if missing or not a regular file. */
  readFile(path: string): Promise<string>;
  readFileBuffer(path: string): Promise<Uint8Array>;
  /** Creates missing parents; overwrites in place (mode, links and inode stay). */
  writeFile(path: string, content: string | Uint8Array): Promise<void>;
  stat(path: string): Promise<FileStat>;
  /** Names, dotfiles included; throws if not a directory. */
  readdir(path: string): Promise<string[]>;
  /** Never throws. */
  exists(path: string): Promise<boolean>;
  mkdir(path: string, options?: MkdirOptions): Promise<void>;
  rm(path: string, options?: RmOptions): Promise<void>;
  readonly cwd: string;
  /** Pure; maps the spellings of one path to one string. */
  resolvePath(path: string): string;
  /** The file a path leads to once links are followed; absent where the driver cannot tell. Used as the lock key (D19). */
  realPath?(path: string): Promise<string>;
  /**
   * The id of the file system that holds the workspace: another one means that the files of the one before are gone.
   * `undefined`: none is there at the moment, and what was there is lost; the next call makes a new one. Starts nothing.
   * Absent where files cannot be lost.
   */
  generation?(): Promise<string | undefined>;
  readonly search?: SandboxSearch;
  /** `false`: a command cannot be found again by its key, so a crash makes its outcome unknown. */
  readonly keyedExec?: boolean;
  /**
   * `true`: file verbs answer in the same isolate, cheaper than a command, so many of them cost no round trip.
   * Absent: `search` decides, since only a driver that lives in the object has search verbs of its own.
   */
  readonly localFiles?: boolean;
}

/** What the conversation lends to a sandbox that lives in the object itself, or that is opened from it. */
export interface SandboxHost {
  files: FileStore;
  /** The binding to the container objects, where the deployment has one. */
  containers?: ContainerNamespace;
  /** The binding to the objects of `@cloudflare/sandbox`, where the deployment has one; the driver knows its type. */
  sandboxes?: unknown;
  /** Where the process behind `local()` listens, and its token. */
  local?: { url: string; token: string };
  /** Names this conversation's workspace for ever; a conversation made anew under the same name has another `uid`. */
  workspace?: { objectName: string; uid: string };
}

export interface CreateSandboxOptions {
  /** The agent instance id; the same id may be asked for again. */
  id: string;
  host?: SandboxHost | undefined;
}

export interface SandboxFactory {
  /** What the factory makes (`virtual`, `local`, ...); recorded at the conversation's birth. */
  readonly kind?: string;
  /** `true`: others write into the same files too, so a conversation's own records do not tell whether they changed. */
  readonly isShared?: boolean;
  createSandbox(options: CreateSandboxOptions): Promise<Sandbox>;
  /** Replaces the six sandbox tools; called afresh whenever the tool list is assembled. */
  tools?(sandbox: Sandbox, options: { subagents: readonly string[] }): AgentTool[];
}
