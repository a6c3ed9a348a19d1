/**
 * What the driver uses of `@cloudflare/sandbox`, as plain structure: a stub of `getSandbox()` fits, and so does a double.
 *
 * Source: contract TOOLS 13.3; the types of @cloudflare/sandbox 0.12.10.
 */

export interface StubExecOptions {
  cwd?: string;
  env?: Record<string, string>;
  /** Milliseconds; the container answers 124 and kills the command's process group. */
  timeout?: number;
}

export interface StubExecResult {
  success?: boolean;
  exitCode?: number;
  stdout?: string;
  stderr?: string;
}

export interface SandboxStub {
  exec(command: string, options?: StubExecOptions): Promise<StubExecResult>;
  /** With `encoding: "base64"` the content is base64, exact whatever the bytes. */
  readFile(path: string, options?: { encoding?: "base64" }): Promise<{ content: string; encoding?: string }>;
  writeFile(path: string, content: string, options?: { encoding?: "base64" }): Promise<unknown>;
  exists(path: string): Promise<{ exists: boolean }>;
  /** The state of the container: `running`, `healthy`, `stopping`, `stopped`, `stopped_with_code`. */
  getState(): Promise<{ status: string }>;
}
