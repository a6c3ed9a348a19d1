/**
 * The driver of `local()`: file verbs and commands as calls to the local process.
 *
 * A command is asked for again and again, each time for seconds, until it has ended: its id makes that the same command,
 * also when the process in between was started anew. An unkeyed one is not asked for again after a failure.
 *
 * Source: contract TOOLS 13.1, D13, D14, D24.
 */
import { abortError } from "../../abort-error.ts";
import type { DriverExecOptions, SandboxDriver } from "../../driver.ts";
import { executionId, parseExecAnswer, refuseCommand, resultOf } from "../../exec-script.ts";
import type { ExecCall, StatAnswer } from "../../local/local-protocol.ts";
import type { ExecResult, FileStat } from "../../sandbox.ts";
import { type LocalClient, LocalUnreachableError } from "./local-client.ts";

/** How long the process may be away from a keyed command, or from an abort. */
const RETRY_FOR_MS = 10_000;
const RETRY_PAUSE_MS = 500;

export interface LocalDriverOptions {
  /** Tells conversations apart, which share the process. */
  scope: string;
  /** Over what commands inherit; `undefined` takes a variable away. */
  env: Readonly<Record<string, string | undefined>>;
}

export function localDriver(client: LocalClient, { scope, env }: LocalDriverOptions): SandboxDriver {
  const base = Object.fromEntries(Object.entries(env).map(([name, value]) => [name, value ?? null]));

  /** Asks again while the process is away: for what may be asked twice. */
  async function persist<T>(ask: () => Promise<T>): Promise<T> {
    const giveUpAt = Date.now() + RETRY_FOR_MS;
    for (;;) {
      try {
        return await ask();
      } catch (error) {
        if (!(error instanceof LocalUnreachableError) || Date.now() > giveUpAt) throw error;
        await new Promise((resolve) => setTimeout(resolve, RETRY_PAUSE_MS));
      }
    }
  }

  /** Until it has ended. */
  async function awaitAnswer(call: ExecCall): Promise<Uint8Array> {
    const ask = () => client.askBytes("exec", call);
    for (;;) {
      const answer = await (call.once ? ask() : persist(ask));
      if (answer !== undefined) return answer;
    }
  }

  async function exec(command: string, options: DriverExecOptions): Promise<ExecResult> {
    const { cwd, timeoutMs, signal, key } = options;
    if (signal?.aborted) throw abortError(signal);
    const refused = refuseCommand(command);
    if (refused) return refused;
    const execution = key === undefined ? crypto.randomUUID() : executionId(scope, key);
    const once = key === undefined;
    const stop = () => {
      // A process that stays away shows itself in the call that waits.
      persist(() => client.ask("abort", { execution })).catch(() => {});
    };
    signal?.addEventListener("abort", stop, { once: true });
    try {
      const answer = await awaitAnswer({ execution, command, cwd, env: { ...base, ...options.env }, timeoutMs, once });
      if (signal?.aborted) throw abortError(signal);
      return resultOf(parseExecAnswer(answer));
    } catch (error) {
      // A shell that could not be started is an ordinary outcome (D24).
      if (hasCode(error, "E2BIG")) return { stdout: "", stderr: "spawn E2BIG", exitCode: 1 };
      throw error;
    } finally {
      signal?.removeEventListener("abort", stop);
    }
  }

  const bytesOf = async (path: string): Promise<Uint8Array> =>
    (await client.askBytes("readFile", { path })) ?? new Uint8Array();

  return {
    exec,
    readFile: async (path) => new TextDecoder("utf-8", { fatal: false, ignoreBOM: true }).decode(await bytesOf(path)),
    readFileBuffer: bytesOf,
    async writeFile(path, content) {
      await client.ask(
        "writeFile",
        { path },
        typeof content === "string" ? new TextEncoder().encode(content) : content,
      );
    },
    async stat(path) {
      return fileStatOf((await client.ask("stat", { path })).value as StatAnswer);
    },
    async readdir(path) {
      return (await client.ask("readdir", { path })).value as string[];
    },
    async exists(path) {
      try {
        return (await client.ask("exists", { path })).value === true;
      } catch {
        return false;
      }
    },
    async mkdir(path, options) {
      await client.ask("mkdir", { path, ...options });
    },
    async rm(path, options) {
      await client.ask("rm", { path, ...options });
    },
    async realPath(path) {
      return String((await client.ask("realPath", { path })).value);
    },
  };
}

function fileStatOf({ mtimeMs, ...stat }: StatAnswer): FileStat {
  return { ...stat, mtime: new Date(mtimeMs) };
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && "code" in error && error.code === code;
}
