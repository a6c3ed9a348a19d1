/**
 * How a command ended: shared by the sandbox, which gives it, and the file store, which keeps it under its key.
 *
 * Source: contract TOOLS 12, D8, D18.
 */
export interface ExecResult {
  /** The end of what was printed, where it was more than crosses from the sandbox. */
  stdout: string;
  stderr: string;
  exitCode: number;
  /** What was printed in front of the text above and stayed in the sandbox; absent where the text is all there was. */
  dropped?: DroppedOutput;
}

export interface DroppedOutput {
  /** Newlines. */
  lines: number;
  /** Code points. */
  characters: number;
}
