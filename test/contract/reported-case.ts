/**
 * A fault that people met in tools of this kind, restated as a small input and played over every driver. Each stands for
 * its kind; the number in brackets in its name is that of the report.
 */
import { describe, it } from "vitest";
import { createPathLocks, createSandboxTools } from "../../durable-objects/tools/index.ts";
import type { OpenSandbox } from "./drivers/contract-driver.ts";
import { contractDrivers } from "./drivers/index.ts";

export interface Answer {
  text: string;
  isError: boolean;
  ms: number;
}

export interface Bench {
  call(tool: string, args: Record<string, unknown>, signal?: AbortSignal): Promise<Answer>;
  bash(command: string, timeout?: number): Promise<Answer>;
  /** A set-up line, past the tools. */
  setUp(command: string): Promise<string>;
  put(path: string, content: string | Buffer): Promise<void>;
  /** The file's bytes as Latin-1 text. */
  bytes(path: string): Promise<string | undefined>;
}

export interface Case {
  name: string;
  /** Drivers it makes no sense for, with the reason. */
  not?: Readonly<Record<string, string>>;
  play(bench: Bench): Promise<void>;
}

export const EMULATED = (why: string) => ({ virtual: why, bash: why });
/** For cases that need processes. */
export const NO_JOBS = EMULATED("its shell has no processes of its own");
function benchOf({ sandbox, run, putFile, bytesOf }: OpenSandbox): Bench {
  const tools = createSandboxTools(sandbox, { locks: createPathLocks() });
  const call: Bench["call"] = async (name, args, signal) => {
    const began = performance.now();
    const ended = (text: string, isError: boolean): Answer => ({ text, isError, ms: performance.now() - began });
    const tool = tools.find((candidate) => candidate.name === name);
    try {
      const result = await tool?.execute(`call-${began}`, args as never, signal);
      const [part] = result?.content ?? [];
      return ended(part?.type === "text" ? part.text : "(no text)", false);
    } catch (error) {
      return ended(error instanceof Error ? error.message : String(error), true);
    }
  };
  return {
    call,
    bash: (command, timeout) => call("bash", { command, ...(timeout !== undefined && { timeout }) }),
    setUp: run,
    put: (path, content) => putFile(`/workspace/${path}`, typeof content === "string" ? Buffer.from(content) : content),
    async bytes(path) {
      const bytes = await bytesOf(`/workspace/${path}`);
      return bytes && Buffer.from(bytes).toString("latin1");
    },
  };
}

export function playCases(what: string, cases: readonly Case[]): void {
  describe.each(contractDrivers)(`${what} over $name`, (driver) => {
    for (const { name, not, play } of cases) {
      it(name, async (context) => {
        const why = not?.[driver.name];
        if (why !== undefined) context.skip(why);
        const open = await driver.open({ cwd: "/workspace", ripgrep: true });
        try {
          await play(benchOf(open));
        } finally {
          await open.close();
        }
      });
    }
  });
}
