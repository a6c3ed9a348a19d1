/**
 * `berth-exec` as a process, and a look at what it leaves behind: for tests of the script alone, without any driver.
 */
import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  abortArguments,
  commandBytes,
  type ExecAnswer,
  type ExecRequest,
  execArguments,
  parseExecAnswer,
} from "../../../containers/exec-script.ts";

export const SCRIPT = join(import.meta.dirname, "../../../containers/image/berth-exec");

export interface Running {
  /** Of the process that waits, not of the command. */
  kill(): void;
  answer: Promise<ExecAnswer>;
  /** What the script printed, as it did. */
  raw: Promise<{ stdout: Buffer; stderr: string; code: number | null }>;
}

export type RunOptions = Partial<Omit<ExecRequest, "stateFolder">> & { stdin?: Uint8Array };

export class ExecLab {
  readonly folder = mkdtempSync(join(tmpdir(), "berth-lab-"));
  readonly stateFolder = join(this.folder, "state");

  run(command: string, options: RunOptions = {}): Running {
    const { stdin, ...rest } = options;
    const request = { stateFolder: this.stateFolder, id: randomUUID(), command, cwd: this.folder, ...rest };
    const { child, raw } = start(execArguments(request), stdin ?? commandBytes(command));
    const answer = raw.then(({ stdout }) => parseExecAnswer(rest.base64 ? stdout.toString() : stdout));
    answer.catch(() => {});
    return { kill: () => child.kill("SIGKILL"), answer, raw };
  }

  async abort(id: string): Promise<void> {
    await start(abortArguments({ stateFolder: this.stateFolder, id })).raw;
  }

  /** Pids of what works in this lab: commands, by their folder, and `berth-exec`, by its arguments. */
  processes(): number[] {
    return readdirSync("/proc")
      .map(Number)
      .filter((pid) => pid > 0 && this.#isOurs(pid));
  }

  #isOurs(pid: number): boolean {
    try {
      // A zombie has no folder any more, and no command line.
      if (readFileSync(`/proc/${pid}/cmdline`, "latin1").includes(this.folder)) return true;
      return readlinkSync(`/proc/${pid}/cwd`) === this.folder;
    } catch {
      return false;
    }
  }

  close(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

function start(args: readonly string[], stdin?: Uint8Array) {
  const child = spawn("bash", [SCRIPT, ...args], { stdio: ["pipe", "pipe", "pipe"] });
  const printed: Buffer[] = [];
  let stderr = "";
  child.stdout.on("data", (chunk: Buffer) => printed.push(chunk));
  child.stderr.on("data", (chunk: Buffer) => {
    stderr += chunk.toString();
  });
  child.stdin.on("error", () => {});
  child.stdin.end(stdin);
  const raw = new Promise<{ stdout: Buffer; stderr: string; code: number | null }>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => resolve({ stdout: Buffer.concat(printed), stderr, code }));
  });
  return { child, raw };
}
