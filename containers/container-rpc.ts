/**
 * What the object that owns a container offers to the driver: programs to run in it, and what it knows of its file system.
 *
 * Across RPC errors are told by `type` (`sandbox_died`) or by their text, never by class.
 */

export interface ProgramOptions {
  /** The operation's name in the error of a container that stops meanwhile. */
  operation: string;
  /** All of standard input; absent = empty. */
  stdin?: Uint8Array;
  user?: string;
  cwd?: string;
  /** The most bytes kept of each stream: the rest is read and dropped, so that the program never blocks. */
  maxBytes: number;
}

export interface ProgramResult {
  stdout: Uint8Array;
  stderr: Uint8Array;
  exitCode: number;
}

export interface ContainerRpc {
  /**
   * Runs a program, in a container that is started where none runs. Resolves whatever the exit code; rejects with type
   * `sandbox_died` when the container stops meanwhile, and with one clear text where there is no container to be had.
   */
  run(argv: string[], options: ProgramOptions): Promise<ProgramResult>;
  /** The id of the running container's file system; starts nothing: `undefined` while none runs. */
  generation(): Promise<string | undefined>;
  /** How long the container stays up with nothing at work. */
  setSleepAfter(ms: number): Promise<void>;
}

/** A binding to the objects; one object owns one container. */
export interface ContainerNamespace {
  getByName(name: string): ContainerRpc;
}
