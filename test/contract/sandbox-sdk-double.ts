/**
 * A double of `@cloudflare/sandbox` 0.12.10 without a session, as it was observed on its real server: real processes and
 * real paths of this machine. Its own folder stands for what a container loses; nothing is isolated.
 *
 * Where the tests are root so is the double, as the SDK's server is, and the workspace belongs to an unprivileged user.
 */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import * as fs from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { SandboxStub, StubExecOptions, StubExecResult } from "../../containers/drivers/cloudflare-sandbox/stub.ts";
import type { SandboxUser } from "../../containers/sandbox-user.ts";

export interface SandboxSdkDouble {
  stub: SandboxStub;
  /** Operations in the order they came, `exec <command>` for commands. */
  calls: string[];
  /** The folder that is lost with the container; it has `workspace` and `state`. */
  root: string;
  /** Whose the workspace is; `null` where the tests may act as nobody else. */
  user: SandboxUser | null;
  /** Ends every process, takes the files away, fails the calls in flight, and the next one too. */
  kill(): Promise<void>;
  /** Another container takes its place without a word: what was known of commands goes, calls in flight stay. */
  replace(): Promise<void>;
  /** The calls of commands in flight reach their timeout now. */
  endWaits(): void;
  /** The next calls fail as those of a container that is only starting. */
  failAsStarting(times: number): void;
  close(): Promise<void>;
}

/** Whose the workspace is where the tests are root. Every Linux has it. */
export const UNPRIVILEGED = "nobody";
export const isRoot = process.getuid?.() === 0;

function idOf(flag: "-u" | "-g"): number {
  return Number(execFileSync("id", [flag, UNPRIVILEGED]));
}

/** What crosses RPC of an SDK error: a plain `Error` with a name and the response it was made of. */
export function sdkError(name: string, code: string, message: string, httpStatus = 500, context: object = {}): Error {
  return Object.assign(new Error(message), { name, errorResponse: { code, message, context, httpStatus } });
}

export async function openSandboxSdk({ ripgrep = true }: { ripgrep?: boolean } = {}): Promise<SandboxSdkDouble> {
  const root = await fs.realpath(await fs.mkdtemp(join(tmpdir(), "berth-sdk-")));
  const real = (path: string) => join(root, path);
  const calls: string[] = [];
  const processes = new Set<ChildProcess>();
  const waits = new Set<() => void>();
  let startingFailures = 0;
  let isInterrupted = false;
  let life = Promise.withResolvers<never>();
  life.promise.catch(() => {});

  async function build(): Promise<void> {
    for (const folder of ["workspace", "home", ".bin"]) {
      await fs.mkdir(real(folder), { recursive: true });
    }
    // It stands for the root of a machine, and for its /tmp: the user may make names there.
    await fs.chmod(root, 0o1777);
    if (isRoot) await fs.chown(real("workspace"), idOf("-u"), idOf("-g"));
    if (!ripgrep) await fs.writeFile(real(".bin/rg"), "#!/bin/sh\nexit 127\n", { mode: 0o755 });
  }
  await build();

  /** What every call goes through: the state of the container, and its death in flight. */
  async function serve<T>(name: string, work: () => Promise<T>): Promise<T> {
    calls.push(name);
    if (startingFailures > 0) {
      startingFailures -= 1;
      const context = { reason: "container_starting", retryable: true, retryAfterMs: 5 };
      throw sdkError("ContainerUnavailableError", "CONTAINER_UNAVAILABLE", "Container is starting", 503, context);
    }
    if (isInterrupted) {
      isInterrupted = false;
      throw sdkError("OperationInterruptedError", "OPERATION_INTERRUPTED", "Container stopped", 409);
    }
    return Promise.race([work(), life.promise]);
  }

  function exec(
    command: string,
    { cwd = real("workspace"), env, timeout }: StubExecOptions = {},
  ): Promise<StubExecResult> {
    return new Promise((resolve, reject) => {
      const failed = (error: Error) =>
        reject(sdkError("CommandError", "COMMAND_EXECUTION_ERROR", `Failed to execute command: ${error.message}`));
      let child: ChildProcess;
      try {
        child = spawn("bash", ["-c", command], {
          cwd,
          env: { LANG: "C.UTF-8", TZ: "UTC", HOME: real("home"), PATH: `${real(".bin")}:${process.env.PATH}`, ...env },
          detached: true,
          stdio: ["ignore", "pipe", "pipe"],
        });
      } catch (error) {
        failed(error as Error);
        return;
      }
      processes.add(child);
      const output = { stdout: [] as Buffer[], stderr: [] as Buffer[] };
      child.stdout?.on("data", (chunk: Buffer) => output.stdout.push(chunk));
      child.stderr?.on("data", (chunk: Buffer) => output.stderr.push(chunk));
      let isLate = false;
      const expire = (): void => {
        isLate = true;
        killGroup(child);
      };
      const timer = setTimeout(expire, timeout ?? 2 ** 31 - 1);
      waits.add(expire);
      child.on("error", failed);
      // Not before its pipes are closed: a background child holds the call.
      child.on("close", (code) => {
        clearTimeout(timer);
        processes.delete(child);
        waits.delete(expire);
        const exitCode = isLate ? 124 : (code ?? 137);
        const stderr =
          Buffer.concat(output.stderr).toString() + (isLate ? `Command timed out after ${timeout}ms\n` : "");
        resolve({
          success: exitCode === 0,
          exitCode,
          stdout: Buffer.concat(output.stdout).toString(),
          stderr,
        });
      });
    });
  }

  /** Every process of the container, those in sessions of their own too: its programs are in their environment. */
  async function killAll(): Promise<void> {
    for (const child of processes) killGroup(child);
    const mark = `PATH=${real(".bin")}:`;
    for (const pid of await fs.readdir("/proc")) {
      if (!/^\d+$/.test(pid)) continue;
      const environment = await fs.readFile(`/proc/${pid}/environ`, "utf8").catch(() => "");
      if (!environment.split("\0").some((variable) => variable.startsWith(mark))) continue;
      try {
        process.kill(Number(pid), "SIGKILL");
      } catch {
        // It has ended by itself.
      }
    }
  }

  const missing = (path: string) =>
    sdkError("FileNotFoundError", "FILE_NOT_FOUND", `File not found: ${path}`, 404, { path });
  const failing = (path: string, error: unknown) =>
    sdkError("FileSystemError", "FILESYSTEM_ERROR", `Failed on '${path}': ${(error as Error).message}`);

  const stub: SandboxStub = {
    exec: (command, options) => serve(`exec ${command}`, () => exec(command, options)),
    readFile: (path, options) =>
      serve(`readFile ${path}`, async () => {
        const stat = await fs.stat(path).catch(() => undefined);
        if (stat === undefined || stat.isDirectory()) throw missing(path);
        const bytes = Buffer.from(await fs.readFile(path));
        if (options?.encoding === "base64" || bytes.includes(0)) {
          return { content: bytes.toString("base64"), encoding: "base64" };
        }
        return { content: bytes.toString(), encoding: "utf-8" };
      }),
    writeFile: (path, content, options) =>
      serve(`writeFile ${path}`, async () => {
        try {
          await fs.mkdir(dirname(path), { recursive: true });
          await fs.writeFile(path, Buffer.from(content, options?.encoding === "base64" ? "base64" : "utf8"));
        } catch (error) {
          throw failing(path, error);
        }
      }),
    exists: (path) =>
      serve(`exists ${path}`, () =>
        fs.stat(path).then(
          () => ({ exists: true }),
          () => ({ exists: false }),
        ),
      ),
    getState: async () => ({ status: "healthy" }),
  };

  async function startAnew(): Promise<void> {
    await killAll();
    await fs.rm(root, { recursive: true, force: true, maxRetries: 5 });
    await build();
  }

  return {
    stub,
    calls,
    root,
    user: isRoot ? { name: UNPRIVILEGED, home: real("workspace") } : null,
    // The calls in flight are the SDK's: only what the container knew is gone.
    replace: () => fs.rm(join(root, "state"), { recursive: true, force: true, maxRetries: 5 }),
    endWaits() {
      for (const expire of waits) expire();
    },
    async kill() {
      isInterrupted = true;
      const dead = life;
      life = Promise.withResolvers<never>();
      life.promise.catch(() => {});
      dead.reject(new Error("Network connection lost."));
      await startAnew();
    },
    failAsStarting(times) {
      startingFailures = times;
    },
    async close() {
      await killAll();
      await fs.rm(root, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

function killGroup(child: ChildProcess): void {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, "SIGKILL");
  } catch {
    // It has ended by itself.
  }
}
