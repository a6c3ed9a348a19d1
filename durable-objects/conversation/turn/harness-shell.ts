/**
 * A command that a program runs through its harness, recorded as a call of bash so that later prompts see it.
 *
 * The call stands behind a signal: no provider takes a conversation that begins with the assistant, or two of its messages
 * in a row. It has no key: it runs once, and a crash leaves its outcome to whoever asked for it.
 *
 * Source: contract RUNTIME 4 ("Programmatic shell"), TOOLS 7, 12, 14.4.
 */
import type { Sandbox } from "../../../containers/sandbox.ts";
import type { ShellOptions, ShellResult } from "../../agent/harness.ts";
import { isNonEmptyString, isRecord, unknownField } from "../../agent/options.ts";
import type { RecordBody } from "../../protocol/records.ts";
import { noUsage } from "../../protocol/usage.ts";
import { formatBashResult } from "../../tools/index.ts";
import type { AttemptPorts } from "./ports.ts";

const REDACTED = "<redacted>";
const RECORDED_TOOL = "bash";
const EXIT_CODE_OF_A_THROW = -1;
const FIELDS = ["cwd", "env", "timeoutMs", "signal"];

/** What is wrong with a call, in a sentence. */
export function findShellFault(command: unknown, options: unknown): string | undefined {
  if (!isNonEmptyString(command)) return "the command must be a non-empty string.";
  if (!isRecord(options)) return "options must be an object.";
  const unknown = unknownField(options, FIELDS);
  if (unknown !== undefined) return `options received unknown field "${unknown}".`;
  const { cwd, env, timeoutMs, signal } = options;
  if (cwd !== undefined && typeof cwd !== "string") return "options.cwd must be a string.";
  const isEnv = env === undefined || (isRecord(env) && Object.values(env).every((value) => typeof value === "string"));
  if (!isEnv) return "options.env must map names to strings.";
  if (timeoutMs !== undefined && !(typeof timeoutMs === "number" && timeoutMs > 0)) {
    return "options.timeoutMs must be a positive number of milliseconds.";
  }
  return signal === undefined || signal instanceof AbortSignal ? undefined : "options.signal must be an AbortSignal.";
}

function callRecords(ports: AttemptPorts, toolCallId: string, command: string, options: ShellOptions): RecordBody[] {
  const { submissionId, attempt, ids, clock } = ports;
  const { cwd, env } = options;
  const redacted = env && Object.fromEntries(Object.keys(env).map((name) => [name, REDACTED]));
  const args = { command, ...(cwd !== undefined && { cwd }), ...(redacted && { env: redacted }) };
  return [
    {
      type: "signal",
      submissionId,
      signalType: "shell",
      body: "The program that uses this conversation ran a command. The call and its result follow.",
    },
    {
      type: "assistant",
      submissionId,
      turnId: ids.next("turn"),
      message: {
        role: "assistant",
        content: [{ type: "toolCall", id: toolCallId, name: RECORDED_TOOL, arguments: args }],
        ...{ api: "program", provider: "program", model: "program" },
        usage: noUsage(),
        stopReason: "toolUse",
        timestamp: clock.now(),
      },
    },
    { type: "tool_started", submissionId, toolCallId, toolName: RECORDED_TOOL, attempt },
  ];
}

/** @param ports of the thread that keeps the record. `signal` stands in for the one in `options`. */
export async function runHarnessShell(
  ports: AttemptPorts,
  sandbox: Sandbox,
  command: string,
  options: ShellOptions,
  signal: AbortSignal,
): Promise<ShellResult> {
  const { submissionId, journal, clock } = ports;
  const { cwd, env, timeoutMs } = options;
  const toolCallId = ports.ids.next("call");
  const startedAt = clock.now();
  journal.append(callRecords(ports, toolCallId, command, options));
  const end = (text: string, details: ShellResult["details"], isError: boolean): void => {
    const durationMs = clock.now() - startedAt;
    const head = { type: "tool_result", submissionId, toolCallId, toolName: RECORDED_TOOL } as const;
    journal.append([{ ...head, text: text.toWellFormed(), isError, details, durationMs }]);
  };
  try {
    const result = await sandbox.exec(command, { cwd, env, timeoutMs, signal });
    const { text } = formatBashResult(result, command);
    const details = { command, exitCode: result.exitCode };
    end(text, details, false);
    return { text, details };
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    end(text, { command, exitCode: EXIT_CODE_OF_A_THROW }, true);
    throw error;
  }
}
