/**
 * Runs commands of `local()` through `berth-exec`.
 *
 * Owns the table of commands somebody waits for, by execution id: calls under one id share one process that waits. What a
 * command did and printed is kept by `berth-exec`, on disk, and survives this process. The outcome of an unkeyed command
 * is kept here for a minute after its end, in case its answer did not arrive.
 */
import { spawn } from "node:child_process";
import { chmodSync, mkdirSync, statSync } from "node:fs";
import { abortArguments, commandBytes, execArguments } from "../exec-script.ts";
import { EXEC_WAIT_MS, type ExecCall } from "./local-protocol.ts";

const KEPT_MS = 60_000;
const ABORT_LIMIT_MS = 12_000;

export interface LocalCommandsOptions {
  script: string;
  /** Of this user alone; made when missing. */
  stateFolder: string;
  /** What commands inherit. */
  environment: Readonly<Record<string, string>>;
}

export interface LocalCommands {
  /** The answer of `berth-exec`, or `undefined` when the command still runs after the wait. */
  exec(call: ExecCall): Promise<Uint8Array | undefined>;
  /** Resolves once every process of the command is gone. */
  abort(execution: string): Promise<void>;
}

export function createLocalCommands({ script, stateFolder, environment }: LocalCommandsOptions): LocalCommands {
  claimFolder(stateFolder);
  const waits = new Map<string, Promise<Uint8Array>>();

  function start(call: ExecCall): Promise<Uint8Array> {
    const { execution, command, cwd, env, timeoutMs, once } = call;
    const set: Record<string, string> = {};
    const inherited: Record<string, string> = { ...environment };
    for (const [name, value] of Object.entries(env)) {
      if (value === null) delete inherited[name];
      else set[name] = value;
    }
    const args = execArguments({ stateFolder, id: execution, command, cwd, env: set, timeoutMs, once });
    const wait = runScript(script, args, { environment: inherited, stdin: commandBytes(command) });
    waits.set(execution, wait);
    const forget = () => waits.delete(execution);
    wait.then(() => (once ? setTimeout(forget, KEPT_MS).unref() : forget()), forget);
    return wait;
  }

  return {
    exec: (call) => withinMs(waits.get(call.execution) ?? start(call), EXEC_WAIT_MS),
    async abort(execution) {
      const args = abortArguments({ stateFolder, id: execution });
      const gone = runScript(script, args, { environment: { ...environment } });
      await withinMs(gone, ABORT_LIMIT_MS);
    },
  };
}

/** Others of this machine could have laid a folder of this name into the temporary one. */
function claimFolder(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  if (statSync(folder).uid !== process.getuid?.()) throw new Error(`${folder} belongs to somebody else.`);
  chmodSync(folder, 0o700);
}

/** `undefined` when it took longer; the work goes on. */
async function withinMs<T>(work: Promise<T>, ms: number): Promise<T | undefined> {
  const late = Promise.withResolvers<undefined>();
  const timer = setTimeout(() => late.resolve(undefined), ms);
  try {
    return await Promise.race([work, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

interface ScriptInput {
  environment: Record<string, string>;
  stdin?: Uint8Array;
}

/** What the script printed. A spawn that fails (E2BIG) rejects with Node's own error, which has a `code`. */
function runScript(script: string, args: readonly string[], { environment, stdin }: ScriptInput): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    // Its own PATH it needs in any case.
    const env = { ...environment, PATH: environment.PATH ?? "/usr/local/bin:/usr/bin:/bin" };
    const child = spawn("bash", [script, ...args], { cwd: "/", env, stdio: ["pipe", "pipe", "pipe"] });
    const printed: Buffer[] = [];
    let complaint = "";
    child.once("error", reject);
    child.stdout.on("data", (chunk: Buffer) => printed.push(chunk));
    child.stderr.on("data", (chunk: Buffer) => {
      complaint = (complaint + chunk.toString()).slice(0, 2000);
    });
    // Text nobody reads: the id has been started already.
    child.stdin.on("error", () => {});
    child.stdin.end(stdin);
    child.once("close", (code) => {
      if (code === 0) resolve(Buffer.concat(printed));
      else reject(new Error(complaint.trim() || `berth-exec ended with ${code ?? "a signal"}.`));
    });
  });
}
