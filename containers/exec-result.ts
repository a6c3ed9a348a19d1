/**
 * How a command ended: shared by the sandbox, which gives it, and the file store, which keeps it under its key.
 *
 * Source: contract TOOLS 12.
 */
export interface ExecResult {
  stdout: string;
  stderr: string;
  exitCode: number;
}
