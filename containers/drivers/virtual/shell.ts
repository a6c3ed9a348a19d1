/**
 * Runs one command in just-bash over a staged view. Nothing is kept from one command to the next but files.
 *
 * just-bash is loaded at the first command (400 KB). It has no network, no python, no JavaScript. All limits fit an
 * isolate of 128 MB, and an endless loop ends by counts: the runtime's clock stands still without I/O.
 *
 * The deadline ends the command through just-bash's own accounting where the command sleeps, because that keeps the output
 * so far (D9); an abort of its signal would lose it. Only a command that does not sleep when the deadline passes is aborted.
 *
 * just-bash tells no text from bytes at its end: output that is no valid UTF-8 arrives as Latin-1 letters, not as U+FFFD.
 */
import type { CommandContext } from "just-bash";
import type { Timers } from "../../../durable-objects/protocol/clock.ts";
import { MAX_EXEC_OUTPUT_UNITS } from "../../../durable-objects/protocol/limits.ts";
import type { ExecResult } from "../../sandbox.ts";
import { DEADLINE_SITE, type Deadline, runInBash } from "../bash/run-in-bash.ts";
import { SHELL_LIMITS } from "../bash/shell-limits.ts";
import { exists, makeDirectory } from "./file-operations.ts";
import { shellFiles } from "./shell-files.ts";
import { smallCommands } from "./small-commands.ts";
import { MAX_STAGED_BYTES, type StagedFiles } from "./staged-files.ts";

export const HOME_DIRECTORY = "/workspace";

const BASE_ENV: Readonly<Record<string, string>> = {
  HOME: HOME_DIRECTORY,
  USER: "user",
  LOGNAME: "user",
  PATH: "/usr/local/bin:/usr/bin:/bin",
  SHELL: "/bin/bash",
  LANG: "C.UTF-8",
  TZ: "UTC",
  TERM: "dumb",
  TMPDIR: "/tmp",
};

export interface ShellOptions {
  cwd: string;
  env: Record<string, string> | undefined;
  /** Absent when the command may take its time. */
  deadline: Deadline | undefined;
  signal: AbortSignal;
  timers: Timers;
}

/** Resolves for every command, also one that just-bash itself fails on. Output is the tail. */
export async function runShell(files: StagedFiles, command: string, options: ShellOptions): Promise<ExecResult> {
  const justBash = await import("just-bash");
  if (options.cwd === HOME_DIRECTORY && !exists(files, HOME_DIRECTORY)) {
    makeDirectory(files, HOME_DIRECTORY, { recursive: true });
  }
  if (!exists(files, options.cwd)) {
    return { stdout: "", stderr: `bash: ${options.cwd}: No such file or directory\n`, exitCode: 1 };
  }
  const bash = new justBash.Bash({
    fs: shellFiles(files, () => sleep(0, options.timers, [])),
    cwd: options.cwd,
    env: { ...BASE_ENV, ...options.env },
    executionLimits: SHELL_LIMITS,
    // It patches the globals of the whole isolate, and no user JavaScript runs here.
    defenseInDepth: false,
    customCommands: [
      justBash.defineCommand("sleep", (args, context) => sleepCommand(args, context, options)),
      ...smallCommands(justBash.defineCommand),
    ],
  });
  const { deadline, signal, timers } = options;
  return settleOutput(await runInBash(bash, command, { deadline, signal, timers }), files);
}

async function sleepCommand(args: string[], context: CommandContext, options: ShellOptions): Promise<ExecResult> {
  const delayMs = args.reduce((sum, arg) => sum + parseDurationMs(arg), 0);
  if (args.length === 0 || Number.isNaN(delayMs)) {
    const stderr =
      args.length === 0 ? "sleep: missing operand\n" : `sleep: invalid time interval '${args.join(" ")}'\n`;
    return { stdout: "", stderr, exitCode: 1 };
  }
  const signals = context.signal === undefined ? [options.signal] : [options.signal, context.signal];
  await sleep(Math.min(delayMs, 2 ** 31 - 1), options.timers, signals, options.deadline?.passed);
  // Throws, and makes everything after it throw, with the output so far attached.
  if (options.deadline?.hasPassed()) context.executionScope?.consumeLimited("time", 1, 0, DEADLINE_SITE);
  return { stdout: "", stderr: "", exitCode: 0 };
}

function parseDurationMs(text: string): number {
  const match = /^(\d+\.?\d*|\.\d+)([smhd]?)$/.exec(text);
  if (match === null) return text === "infinity" ? 2 ** 31 : Number.NaN;
  const unit = { s: 1, m: 60, h: 3600, d: 86_400 }[match[2] ?? "s"] ?? 1;
  return Number(match[1]) * unit * 1000;
}

/** Resolves after the delay, at an abort, or with `early`, whichever is first; leaves no timer behind. */
function sleep(delayMs: number, timers: Timers, signals: readonly AbortSignal[], early?: Promise<void>): Promise<void> {
  return new Promise((resolve) => {
    const finish = (): void => {
      cancel();
      for (const signal of signals) signal.removeEventListener("abort", finish);
      resolve();
    };
    const cancel = timers.after(delayMs, finish);
    for (const signal of signals) signal.addEventListener("abort", finish, { once: true });
    if (signals.some((signal) => signal.aborted)) finish();
    void early?.then(finish);
  });
}

function settleOutput(result: ExecResult, files: StagedFiles): ExecResult {
  const isFull = files.isFull;
  const notice = `bash: No space left on device: one command can change at most ${MAX_STAGED_BYTES} bytes of files\n`;
  return {
    stdout: tailOf(result.stdout),
    stderr: tailOf(isFull ? result.stderr + notice : result.stderr),
    exitCode: isFull && result.exitCode === 0 ? 1 : result.exitCode,
  };
}

/** The last `MAX_EXEC_OUTPUT_UNITS`, well-formed (D1, D18). */
function tailOf(text: string): string {
  if (text.length <= MAX_EXEC_OUTPUT_UNITS) return text.toWellFormed();
  let start = text.length - MAX_EXEC_OUTPUT_UNITS;
  const unit = text.charCodeAt(start);
  if (unit >= 0xdc00 && unit <= 0xdfff) start += 1;
  return text.slice(start).toWellFormed();
}
