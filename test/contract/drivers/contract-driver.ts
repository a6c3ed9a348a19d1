/** What the contract suite asks of a driver: a fresh sandbox, and a way round the tools to set it up and look at it. */
import type { Sandbox } from "../../../containers/sandbox.ts";

export interface OpenOptions {
  /** The sandbox's working directory. */
  cwd: string;
  /** False: `rg` answers exit 127. */
  ripgrep: boolean;
}

/** Paths are absolute; `/workspace` exists. */
export interface OpenSandbox {
  sandbox: Sandbox;
  putFile(path: string, bytes: Uint8Array): Promise<void>;
  /** Runs a command line in `/workspace`, gives its stdout. */
  run(command: string): Promise<string>;
  /** The bytes of a file, or undefined where there is none. */
  bytesOf(path: string): Promise<Uint8Array | undefined>;
  close(): Promise<void>;
}

/** The programs a grep goes to: those that can be chosen, or one of the driver's own that may agree with either. */
export type SearchBackends = readonly ("rg" | "grep")[] | "own";

export interface ContractDriver {
  name: string;
  backends: SearchBackends;
  open(options: OpenOptions): Promise<OpenSandbox>;
  /** Vectors this driver cannot run, by id or (`start*`) by the start of one, with the reason. */
  cannot: Readonly<Record<string, string>>;
}
