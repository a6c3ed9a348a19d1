/**
 * A sandbox over a scripted driver: the n-th call of a verb gets the n-th answer, the last one repeats.
 *
 * `log` holds the calls in order. A verb without answers succeeds with nothing; a buffer is read from the script of
 * `readFile` where it has none of its own.
 */
import type { DriverExecOptions, SandboxDriver } from "../../../containers/driver.ts";
import type { ExecResult, Sandbox } from "../../../containers/sandbox.ts";
import { sandboxFromDriver } from "../../../containers/sandbox-from-driver.ts";

export interface ScriptedAnswer {
  result?: unknown;
  /** The call rejects with this message. */
  error?: string;
  /** The call never settles. */
  hang?: boolean;
  delayMs?: number;
}

export type Script = Readonly<Record<string, readonly ScriptedAnswer[]>>;

export interface ScriptedCall {
  verb: string;
  args: readonly unknown[];
}

export interface ScriptedSandbox {
  sandbox: Sandbox;
  log: ScriptedCall[];
}

export function scriptedSandbox(script: Script, cwd = "/workspace"): ScriptedSandbox {
  const log: ScriptedCall[] = [];
  async function answer(verb: string, args: readonly unknown[], fallback: unknown, from = verb): Promise<unknown> {
    const nth = log.filter((call) => call.verb === verb).length;
    log.push({ verb, args });
    const answers = script[from] ?? [];
    const { result, error, hang, delayMs } = answers[Math.min(nth, answers.length - 1)] ?? { result: fallback };
    if (hang) await new Promise(() => {});
    if (delayMs !== undefined) await new Promise((resolve) => setTimeout(resolve, delayMs));
    if (error !== undefined) throw new Error(error);
    return result ?? fallback;
  }
  const ended: ExecResult = { stdout: "", stderr: "", exitCode: 0 };
  const driver: SandboxDriver = {
    exec: async (command: string, options: DriverExecOptions) =>
      (await answer("exec", [command, options], ended)) as ExecResult,
    readFile: async (path) => (await answer("readFile", [path], "")) as string,
    readFileBuffer: async (path) =>
      new TextEncoder().encode((await answer("readFileBuffer", [path], "", "readFile")) as string),
    writeFile: async (...args) => void (await answer("writeFile", args, undefined)),
    stat: async (path) => (await answer("stat", [path], { isFile: true, isDirectory: false })) as never,
    readdir: async (path) => (await answer("readdir", [path], [])) as string[],
    exists: async (path) => (await answer("exists", [path], true)) as boolean,
    mkdir: async (...args) => void (await answer("mkdir", args, undefined)),
    rm: async (...args) => void (await answer("rm", args, undefined)),
  };
  return { sandbox: sandboxFromDriver(driver, cwd), log };
}
