/**
 * Runs a command and shows the end of its output; a failed or timed-out command is an ordinary result.
 *
 * The command runs under the call's id as its key, so that a crash finds it again. The driver enforces the timeout and
 * answers 124 with the output so far; the signal made here fires 5 s later and serves a driver that does not (D9).
 *
 * Source: contract TOOLS 7, D8, D9, D10, D27.
 */
import { Type } from "@sinclair/typebox";
import type { ExecResult, Sandbox } from "../../containers/sandbox.ts";
import { systemTimers, type Timers } from "../protocol/clock.ts";
import { BASH_TIMEOUT_GRACE_MS, MAX_TIMER_MS } from "../protocol/limits.ts";
import { type DurableTool, defineTool, type ToolOutput } from "./define-tool.ts";
import { parameter } from "./parameter.ts";
import { trimOutput, truncateTail } from "./truncate.ts";

const TIMEOUT_EXIT_CODE = 124;

const parameters = Type.Object({
  command: parameter(Type.String(), "Bash command to execute"),
  timeout: Type.Optional(parameter(Type.Number(), "Timeout in seconds")),
});

export function createBashTool(env: Sandbox, { timers = systemTimers }: { timers?: Timers } = {}): DurableTool {
  return defineTool({
    name: "bash",
    label: "Run Command",
    description:
      "Execute a bash command. Returns stdout and stderr. Output is truncated to the last 2000 lines or 50KB.",
    parameters,
    replayPolicy: env.keyedExec === false ? "unknown" : "reattach",
    async run({ id, args, signal }) {
      const { command } = args;
      // A caller outside the loop may pass null, which the loop drops (D10).
      const timeout = args.timeout ?? undefined;
      if (timeout === undefined) {
        return formatBashResult(await env.exec(command, { timeoutMs: undefined, signal, key: id }), command);
      }
      const deadline = startDeadline(parseTimeoutMs(timeout), signal, timers);
      try {
        const result = await env.exec(command, { timeoutMs: deadline.timeoutMs, signal: deadline.signal, key: id });
        if (!deadline.hasPassed() || signal?.aborted) return formatBashResult(result, command);
        const intact = result.exitCode === TIMEOUT_EXIT_CODE && !deadline.signal.aborted;
        return formatTimeout(timeout, command, intact ? result : undefined);
      } catch (error) {
        if (!deadline.hasPassed() || signal?.aborted) throw error;
        return formatTimeout(timeout, command, undefined);
      } finally {
        deadline.cancel();
      }
    },
  });
}

/** Whole milliseconds a timer can hold, rounded up (D10). */
function parseTimeoutMs(seconds: number): number {
  if (!(seconds > 0)) throw new Error("timeout must be a positive number of seconds.");
  return Math.min(Math.ceil(seconds * 1000), MAX_TIMER_MS);
}

interface Deadline {
  timeoutMs: number;
  /** Fires with the caller's, or when the grace after the timeout is over. */
  signal: AbortSignal;
  hasPassed(): boolean;
  cancel(): void;
}

function startDeadline(timeoutMs: number, host: AbortSignal | undefined, timers: Timers): Deadline {
  const overdue = new AbortController();
  let passed = false;
  let cancel = timers.after(timeoutMs, () => {
    passed = true;
    cancel = timers.after(BASH_TIMEOUT_GRACE_MS, () => overdue.abort());
  });
  return {
    timeoutMs,
    signal: host ? AbortSignal.any([host, overdue.signal]) : overdue.signal,
    hasPassed: () => passed,
    cancel: () => cancel(),
  };
}

/** All of stdout, then all of stderr, trimmed and cut; not in the order in which it was printed. */
function renderOutput({ stdout, stderr, dropped }: ExecResult): string {
  return truncateTail(trimOutput(stdout + (stderr ? `\n${stderr}` : "")), { dropped });
}

/** What the model reads of a completed command; the exit line stands behind the cut. */
export function formatBashResult(result: ExecResult, command: string): ToolOutput {
  const { exitCode } = result;
  const body = renderOutput(result) || "(no output)";
  const text = exitCode === 0 ? body : `${body}\n\nCommand exited with code ${exitCode}`;
  return { text, details: { command, exitCode } };
}

function formatTimeout(seconds: number, command: string, result: ExecResult | undefined): ToolOutput {
  const soFar = result ? renderOutput(result) : "";
  const notice = `[flue] Command timed out after ${seconds} seconds.\n\nCommand exited with code ${TIMEOUT_EXIT_CODE}`;
  return {
    text: soFar ? `${soFar}\n\n${notice}` : notice,
    details: { command, exitCode: TIMEOUT_EXIT_CODE },
  };
}
