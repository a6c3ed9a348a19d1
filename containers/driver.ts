/**
 * The least a provider offers: `sandboxFromDriver` makes a `Sandbox` of it.
 *
 * Source: contract TOOLS 12. Paths arrive absolute and normalised. `writeFile` must let a missing parent's error escape
 * (the wrapper makes the parent and tries once more). `signal` is forwarded only to a real cancel primitive: the wrapper
 * races it already. Calls in flight settle when the sandbox dies.
 */
import type { ExecResult, FileStat, MkdirOptions, RmOptions, SandboxSearch } from "./sandbox.ts";

export interface DriverExecOptions {
  cwd: string;
  env: Record<string, string> | undefined;
  timeoutMs: number | undefined;
  signal: AbortSignal | undefined;
  key: string | undefined;
}

export interface SandboxDriver {
  exec(command: string, options: DriverExecOptions): Promise<ExecResult>;
  readFile(path: string): Promise<string>;
  readFileBuffer(path: string): Promise<Uint8Array>;
  writeFile(path: string, content: string | Uint8Array): Promise<void>;
  stat(path: string): Promise<FileStat>;
  readdir(path: string): Promise<string[]>;
  exists(path: string): Promise<boolean>;
  mkdir(path: string, options?: MkdirOptions): Promise<void>;
  rm(path: string, options?: RmOptions): Promise<void>;
  realPath?(path: string): Promise<string>;
  /** Which file system this is; see `Sandbox.generation`. Absent where files cannot be lost. */
  generation?(): Promise<string | undefined>;
  readonly search?: SandboxSearch;
  readonly keyedExec?: false;
}
