/**
 * How a driver speaks to `berth-exec` (containers/image/berth-exec), the one way a command runs on a real machine: pure
 * functions that build its arguments and parse its answer. The driver moves the bytes.
 *
 * 1. `refuseCommand(command)`: an outcome without any machine, for a command no shell can be given (D24).
 * 2. `execArguments(request)` after the script's path, with the command's UTF-8 bytes on stdin, starts the command, or
 *    attaches to it, or finds its outcome, and waits. The text is never an argument (E2BIG). The caller may die at any
 *    moment: the runner has a session of its own, so asking again under the same id attaches. Text that was cut short on
 *    its way does not run. Only with an environment of the machine's own: `berth-exec` hands on the allowlist of TOOLS
 *    13.1 (PATH, HOME, ...) and `env`, nothing else.
 * 3. `parseExecAnswer(bytes)` (or of the base64 text, where a transport takes text only) and `resultOf(answer)`.
 * 4. On an abort: `abortArguments`, as a second call; it returns when every process of the command is gone (TERM, KILL
 *    after 2 s), and the first call then answers `aborted`. It may come before the start. Killing the first call alone
 *    kills nothing.
 * 5. The timeout is kept inside, as exit code 124 with the output so far, counted from the first start of the id.
 *
 * Ids: `executionId(scope, key)` for a keyed command, a random one for any other, with `once`. `attachOnly` never starts:
 * for a driver that knows the command was started in a machine that may be gone (`unknown`).
 * Where the script is absent, `containers/image/berth-exec` is sent in as a file; it needs no installation.
 * A machine whose first process reaps no orphans collects zombies; `berth-exec` takes them for ended.
 *
 * Source: ARCHITECTURE 5; contract TOOLS 12, 13.1, D8, D13, D14, D18, D24.
 */
import { createHash } from "node:crypto";
import { MAX_EXEC_OUTPUT_BYTES } from "../durable-objects/protocol/limits.ts";
import type { ExecResult } from "./exec-result.ts";
import { shellQuote } from "./shell-quote.ts";

/** Where images keep the script. */
export const EXEC_SCRIPT_PATH = "/usr/local/bin/berth-exec";
/** Where its state stands in a container: of root only. */
export const EXEC_STATE_FOLDER = "/var/lib/berth-exec";

/** How the script ends where the machine does not know the user; nothing was started. */
export const EXIT_NO_USER = 67;

const ANSWER_MARK = "berth-exec/1";

export interface ExecRequest {
  /** Absolute; made when missing. */
  stateFolder: string;
  /** 1 to 128 letters, digits, `-` or `_`: `executionId`, or a random one. */
  id: string;
  command: string;
  cwd: string;
  /** Layered over what the allowlist lets through. */
  env?: Readonly<Record<string, string>> | undefined;
  timeoutMs?: number | undefined;
  /** The outcome is forgotten once it was told: for a command without a key. */
  once?: boolean | undefined;
  /** Never start; no bytes on stdin then. */
  attachOnly?: boolean | undefined;
  /** Name or number, where the script runs as root. A name that is not known there starts nothing: `EXIT_NO_USER`. */
  user?: string | undefined;
  /** Answer in base64, and a quarter less of it. */
  base64?: boolean | undefined;
}

/** The id of a keyed command. `scope` tells apart what shares a state folder (conversation and its incarnation). */
export function executionId(scope: string, key: string): string {
  return createHash("sha256").update(`${scope}\0${key}`).digest("hex");
}

/** The bytes for stdin. */
export function commandBytes(command: string): Uint8Array {
  return new TextEncoder().encode(command);
}

export function execArguments(request: ExecRequest): string[] {
  const { stateFolder, id, command, cwd, env = {}, timeoutMs, user } = request;
  const keep = request.base64 ? (MAX_EXEC_OUTPUT_BYTES / 4) * 3 : MAX_EXEC_OUTPUT_BYTES;
  return [
    "run",
    ...["--state", stateFolder, "--id", id, "--cwd", cwd, "--keep", String(keep)],
    ...["--bytes", String(commandBytes(command).byteLength)],
    ...(timeoutMs === undefined ? [] : ["--timeout-ms", String(Math.ceil(timeoutMs))]),
    ...(request.once ? ["--once"] : []),
    ...(request.attachOnly ? ["--attach"] : []),
    ...(request.base64 ? ["--base64"] : []),
    ...(user === undefined ? [] : ["--user", user]),
    ...Object.entries(env).flatMap(([name, value]) => ["--env", `${name}=${value}`]),
  ];
}

/** Ends the command under an id, whether it runs or has yet to start; returns when it is gone. */
export function abortArguments({ stateFolder, id }: Pick<ExecRequest, "stateFolder" | "id">): string[] {
  return ["abort", "--state", stateFolder, "--id", id];
}

/** Forgets what ended more than a day ago. Every 32nd command does it by itself. */
export function sweepArguments(stateFolder: string): string[] {
  return ["sweep", "--state", stateFolder];
}

/** Words as one line for a shell; `stdinFile` holds the command's bytes. */
export function renderExecLine(script: string, args: readonly string[], stdinFile?: string): string {
  const line = [script, ...args].map(shellQuote).join(" ");
  return stdinFile === undefined ? line : `${line} < ${shellQuote(stdinFile)}`;
}

/** The outcome of a command that cannot be handed to a shell, in Node's words (D24); undefined for all others. */
export function refuseCommand(command: string): ExecResult | undefined {
  const refused = (message: string) => ({ stdout: "", stderr: message, exitCode: 1 });
  if (command === "") return refused("The argument 'file' cannot be empty. Received ''");
  if (!command.includes("\0")) return undefined;
  const shown = command.replaceAll("\0", "\\x00");
  return refused(`The argument 'file' must be a string without null bytes. Received '${shown}'`);
}

export type ExecState =
  | "ended"
  /** Killed by an abort; the result holds the output so far. */
  | "aborted"
  /** Its runner died: what the command did is not known, and it is not run again. */
  | "lost"
  /** Never started here (only with `attachOnly`). */
  | "unknown";

export interface ExecAnswer {
  state: ExecState;
  result: ExecResult;
}

const HEADER = new RegExp(
  `^${ANSWER_MARK} (ended|aborted|lost|unknown) (\\d+) (\\d+) (\\d+) (-|\\d+) (-|\\d+) (-|\\d+) (-|\\d+)$`,
);
const LINE_FEED = 10;

/** Throws where the bytes are not a whole answer: the transport failed, and the same request may be made again. */
export function parseExecAnswer(answer: Uint8Array | string): ExecAnswer {
  const bytes = typeof answer === "string" ? decodeBase64(answer) : answer;
  const headerEnd = bytes.indexOf(LINE_FEED);
  const header = HEADER.exec(new TextDecoder().decode(bytes.subarray(0, Math.max(0, Math.min(headerEnd, 200)))));
  const [state, code, outBytes, errBytes] = header?.slice(1) ?? [];
  const outEnd = headerEnd + 1 + Number(outBytes);
  if (!header || bytes.byteLength !== outEnd + Number(errBytes)) {
    throw new Error("The sandbox's answer to a command was cut short.");
  }
  const stdout = decodeStream(bytes.subarray(headerEnd + 1, outEnd), header[5], header[6]);
  const stderr = decodeStream(bytes.subarray(outEnd), header[7], header[8]);
  const dropped = {
    lines: stdout.droppedLines + stderr.droppedLines,
    characters: stdout.droppedCharacters + stderr.droppedCharacters,
  };
  const result: ExecResult = { stdout: stdout.text, stderr: stderr.text, exitCode: Number(code) };
  return { state: state as ExecState, result: dropped.characters > 0 ? { ...result, dropped } : result };
}

function decodeBase64(text: string): Uint8Array {
  return new Uint8Array(Buffer.from(text, "base64"));
}

/** Text of the kept bytes, from its first whole character on, and what stood in front of it. */
function decodeStream(kept: Uint8Array, totalLines = "-", totalCharacters = "-") {
  const isCut = totalCharacters !== "-";
  let start = 0;
  while (isCut && start < 3 && isContinuation(kept[start])) start++;
  const text = new TextDecoder("utf-8", { ignoreBOM: true, fatal: false }).decode(kept.subarray(start));
  if (!isCut) return { text, droppedLines: 0, droppedCharacters: 0 };
  let lines = 0;
  let characters = 0;
  for (const byte of kept) {
    if (byte === LINE_FEED) lines++;
    if (!isContinuation(byte)) characters++;
  }
  return {
    text,
    droppedLines: Math.max(0, Number(totalLines) - lines),
    droppedCharacters: Math.max(0, Number(totalCharacters) - characters),
  };
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}

/** What a caller gets of an answer; throws where there is no outcome to give. */
export function resultOf({ state, result }: ExecAnswer): ExecResult {
  if (state === "ended") return result;
  if (state === "aborted") throw new DOMException("The operation was aborted.", "AbortError");
  throw new Error("The sandbox was interrupted while the command ran: what the command did is not known.");
}
