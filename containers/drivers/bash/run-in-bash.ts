/**
 * One command in a just-bash-like shell, against a deadline and an abort.
 *
 * The deadline ends the command through just-bash's own accounting where the shell's `sleep` takes part (`DEADLINE_SITE`),
 * because that keeps the output so far (D9); an abort of its signal would lose it. Only a command that does not end at its
 * deadline by itself is aborted.
 */
import type { Timers } from "../../../durable-objects/protocol/clock.ts";
import type { ExecResult } from "../../sandbox.ts";

export const TIMED_OUT_EXIT_CODE = 124;
/** What a shell's own programs say when they stop at the deadline. */
export const DEADLINE_SITE = "the deadline has passed";
/** How long a command may go on after its deadline before it is aborted. */
const DEADLINE_GRACE_MS = 20;

/** The part of a just-bash that runs commands. */
export interface CommandShell {
  exec(
    command: string,
    options?: { cwd?: string; env?: Record<string, string>; signal?: AbortSignal; rawScript?: boolean },
  ): Promise<ExecResult>;
}

/** A point in time; `passed` resolves there. */
export interface Deadline {
  hasPassed(): boolean;
  readonly passed: Promise<void>;
}

export function startDeadline(delayMs: number, timers: Timers): Deadline & { cancel: () => void } {
  let hasPassed = delayMs <= 0;
  const { promise, resolve } = Promise.withResolvers<void>();
  const cancel = timers.after(delayMs, () => {
    hasPassed = true;
    resolve();
  });
  return { hasPassed: () => hasPassed, passed: promise, cancel };
}

export interface RunOptions {
  cwd?: string | undefined;
  env?: Record<string, string> | undefined;
  /** Absent when the command may take its time. */
  deadline: Deadline | undefined;
  signal: AbortSignal | undefined;
  timers: Timers;
}

/** Resolves for every command, also one that the shell itself fails on. */
export async function runInBash(shell: CommandShell, command: string, options: RunOptions): Promise<ExecResult> {
  const { cwd, env, deadline, signal, timers } = options;
  const stop = new AbortController();
  const onAbort = (): void => stop.abort();
  signal?.addEventListener("abort", onAbort, { once: true });
  if (signal?.aborted) stop.abort();
  let cancelGrace = (): void => {};
  let isRunning = true;
  void deadline?.passed.then(() => {
    if (isRunning) cancelGrace = timers.after(DEADLINE_GRACE_MS, onAbort);
  });
  try {
    const { stdout, stderr, exitCode } = await shell.exec(command, {
      ...(cwd !== undefined && { cwd }),
      ...(env !== undefined && { env }),
      signal: stop.signal,
      // Or it takes the indentation off here-documents.
      rawScript: true,
    });
    const isLate = deadline?.hasPassed() && (stderr.includes(DEADLINE_SITE) || stop.signal.aborted);
    if (!isLate) return { stdout, stderr, exitCode };
    return { stdout, stderr: withoutDeadlineNotice(stderr), exitCode: TIMED_OUT_EXIT_CODE };
  } catch (error) {
    return { stdout: "", stderr: `bash: ${error instanceof Error ? error.message : String(error)}\n`, exitCode: 1 };
  } finally {
    isRunning = false;
    cancelGrace();
    signal?.removeEventListener("abort", onAbort);
  }
}

function withoutDeadlineNotice(stderr: string): string {
  return stderr
    .split("\n")
    .filter((line) => !line.includes(DEADLINE_SITE) && line !== "bash: execution aborted")
    .join("\n");
}
