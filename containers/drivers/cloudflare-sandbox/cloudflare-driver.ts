/**
 * The driver of `cloudflareSandbox()`: commands through `berth-exec`, files through the SDK and small programs, every call
 * guarded. What a tool asks for is done as the user; berth-exec with its state, and what moves bytes, is root.
 *
 * A command is waited for in slices, each a call of its own: the command itself has no limit but its timeout, no call
 * stays open for an hour, and a caller that comes later under the same key attaches. A slice that ends is the waiting
 * that was killed, never the command.
 *
 * Source: contract TOOLS 13.3, 12, D9, D13, D14, D18; ARCHITECTURE 5.
 */
import type { Timers } from "../../../durable-objects/protocol/clock.ts";
import {
  MAX_SANDBOX_LINE_BYTES,
  SANDBOX_CALL_DEADLINE_MS,
  SANDBOX_EXEC_SLICE_MS,
} from "../../../durable-objects/protocol/limits.ts";
import { abortError } from "../../abort-error.ts";
import type { DriverExecOptions, SandboxDriver } from "../../driver.ts";
import {
  abortArguments,
  commandBytes,
  EXEC_SCRIPT_PATH,
  EXEC_STATE_FOLDER,
  EXIT_NO_USER,
  type ExecAnswer,
  type ExecRequest,
  execArguments,
  executionId,
  parseExecAnswer,
  refuseCommand,
  renderExecLine,
  resultOf,
} from "../../exec-script.ts";
import type { ExecResult } from "../../sandbox.ts";
import { SandboxDiedError } from "../../sandbox-died-error.ts";
import { type SandboxUser, userEnvironment } from "../../sandbox-user.ts";
import { shellQuote } from "../../shell-quote.ts";
import { encodeBase64 } from "./base64.ts";
import { isStopped } from "./death-detector.ts";
import { fileVerbs } from "./file-verbs.ts";
import { guardCalls } from "./guarded-calls.ts";
import type { SandboxStub, StubExecResult } from "./stub.ts";
import { noSuchUser, userPrograms } from "./user-programs.ts";

export interface CloudflareDriverOptions {
  /** As whom tool calls run; `undefined`: as the SDK's own server does. */
  user: SandboxUser | undefined;
  timers: Timers;
  /** A word no other call is given, of letters, digits and `-`. */
  newToken(): string;
  /** Where `berth-exec` and its state are, when not where the image has them. */
  script?: string | undefined;
  stateFolder?: string | undefined;
}

/** One container holds one conversation's commands, so that their keys need no scope. */
const KEY_SCOPE = "";
const PROGRAM_MISSING = new Set([126, 127]);
/** How the waiting ends that reached its timeout or was killed; the command goes on. */
const WAIT_ENDED = new Set([124, 137, 143]);

export function cloudflareDriver(stub: SandboxStub, options: CloudflareDriverOptions): SandboxDriver {
  const { user, timers, newToken, script = EXEC_SCRIPT_PATH, stateFolder = EXEC_STATE_FOLDER } = options;
  const call = guardCalls(stub, timers);

  /** One slice: the answer, or `undefined` while the command still runs. */
  async function waitForAnswer(line: string, signal: AbortSignal | undefined): Promise<ExecAnswer | undefined> {
    const answer = await call("exec", (open) => open.exec(line, { cwd: "/", timeout: SANDBOX_EXEC_SLICE_MS }), {
      deadlineMs: SANDBOX_EXEC_SLICE_MS + SANDBOX_CALL_DEADLINE_MS,
      signal,
    });
    return parseSlice(answer, user);
  }

  async function runCommand(request: ExecRequest, signal: AbortSignal | undefined): Promise<ExecResult> {
    const bytes = commandBytes(request.command);
    const args = execArguments(request);
    let line = `printf %s ${shellQuote(request.command)} | ${renderExecLine(script, args)}`;
    let file: string | undefined;
    // One argument of a program holds at most 128 KiB, and the line is one.
    if (commandBytes(line).byteLength > MAX_SANDBOX_LINE_BYTES) {
      const path = `/tmp/.berth-command-${newToken()}`;
      file = path;
      await call("exec", (open) => open.writeFile(path, encodeBase64(bytes), { encoding: "base64" }), { signal });
      line = renderExecLine(script, args, path);
    }
    try {
      let answer = await waitForAnswer(line, signal);
      const attach = renderExecLine(script, execArguments({ ...request, command: "", attachOnly: true }));
      while (answer === undefined) answer = await waitForAnswer(attach, signal);
      // It was started, and nothing is known of it: another container has taken the place.
      if (answer.state === "unknown") throw new SandboxDiedError("exec", "stopped");
      return resultOf(answer);
    } finally {
      if (file !== undefined) {
        const leftover = shellQuote(file);
        call("exec", (open) => open.exec(`rm -f -- ${leftover}`, { cwd: "/" })).catch(() => {});
      }
    }
  }

  async function exec(command: string, { cwd, env, timeoutMs, signal, key }: DriverExecOptions): Promise<ExecResult> {
    if (signal?.aborted) throw abortError(signal);
    // Half a character has no bytes; the script counts them.
    const text = command.toWellFormed();
    const refused = refuseCommand(text);
    if (refused !== undefined) return refused;
    const id = key === undefined ? newToken() : executionId(KEY_SCOPE, key);
    const request: ExecRequest = {
      ...{ stateFolder, id, command: text, cwd, timeoutMs },
      ...{ user: user?.name, env: { ...(user && userEnvironment(user)), ...env } },
      once: key === undefined,
      // The SDK passes text, and replaces what is no UTF-8.
      base64: true,
    };
    const onAbort = (): void => {
      const line = renderExecLine(script, abortArguments({ stateFolder, id }));
      call("exec", (open) => open.exec(line, { cwd: "/" })).catch(() => {});
    };
    signal?.addEventListener("abort", onAbort, { once: true });
    try {
      return await runCommand(request, signal);
    } finally {
      signal?.removeEventListener("abort", onAbort);
    }
  }

  async function generation(): Promise<string | undefined> {
    const { status } = await call("generation", (open) => open.getState());
    if (isStopped(status)) return undefined;
    const folder = shellQuote(stateFolder);
    const marker = shellQuote(`${stateFolder}/generation`);
    // The first to come writes it, whoever asks at the same time.
    const write = `(set -C; printf %s ${shellQuote(newToken())} > ${marker}) 2>/dev/null`;
    const line = `mkdir -p -- ${folder} && { ${write}; cat -- ${marker}; }`;
    const { stdout = "", stderr = "" } = await call("generation", (open) => open.exec(line, { cwd: "/" }));
    if (stdout === "") throw new Error(`generation failed: ${stderr}`);
    return stdout;
  }

  return { exec, ...fileVerbs({ call, programs: userPrograms(call, user), newToken }), generation };
}

function parseSlice(
  { stdout = "", stderr = "", exitCode, success }: StubExecResult,
  user: SandboxUser | undefined,
): ExecAnswer | undefined {
  const code = exitCode ?? (success ? 0 : 1);
  if (stdout !== "") return parseExecAnswer(stdout);
  if (WAIT_ENDED.has(code)) return undefined;
  if (user !== undefined && code === EXIT_NO_USER) throw noSuchUser(user);
  if (PROGRAM_MISSING.has(code)) {
    throw new Error(
      `The sandbox's image has no berth-exec (${stderr.trim()}). Build it from containers/image/sandbox.Dockerfile and deploy again.`,
    );
  }
  throw new Error(`exec failed: ${stderr.trim() || `berth-exec ended with ${code}`}`);
}
