/**
 * A test double with real bash, rg, grep and find: `/` of the sandbox is a temporary folder.
 *
 * Command lines have `/workspace` replaced by the real folder, and answers back again; other absolute paths in commands
 * reach the machine itself. For the contract suite only: nothing is isolated.
 */
import { spawn, spawnSync } from "node:child_process";
import * as fs from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { DriverExecOptions, SandboxDriver } from "../../../containers/driver.ts";
import type { ExecResult, FileStat } from "../../../containers/sandbox.ts";
import { sandboxFromDriver } from "../../../containers/sandbox-from-driver.ts";
import type { ContractDriver, OpenOptions, OpenSandbox } from "./contract-driver.ts";

const DRAIN_MS = 100;

async function open({ cwd, ripgrep }: OpenOptions): Promise<OpenSandbox> {
  const root = await fs.realpath(await fs.mkdtemp(join(tmpdir(), "berth-host-")));
  const real = (path: string) => join(root, path);
  const shown = (text: string) => text.replaceAll(root, "");
  const bin = real("/.bin");
  await fs.mkdir(real("/workspace"), { recursive: true });
  await fs.mkdir(bin);
  if (!ripgrep) await fs.writeFile(join(bin, "rg"), "#!/bin/sh\nexit 127\n", { mode: 0o755 });
  const translated = <T>(work: Promise<T>) =>
    work.catch((error: Error) => {
      error.message = shown(error.message);
      throw error;
    });

  async function exec(command: string, options: DriverExecOptions): Promise<ExecResult> {
    await fs.mkdir(real(options.cwd), { recursive: true });
    const line = command.replaceAll("/workspace", real("/workspace"));
    const env = { LANG: "C.UTF-8", TZ: "UTC", HOME: "/home/user", PATH: `${bin}:${process.env.PATH}`, ...options.env };
    const result = await runShell(line, { cwd: real(options.cwd), env }, options);
    return { ...result, stdout: shown(result.stdout), stderr: shown(result.stderr) };
  }

  const driver: SandboxDriver = {
    exec,
    readFile: (path) => translated(fs.readFile(real(path), "utf8")),
    readFileBuffer: (path) => translated(fs.readFile(real(path))),
    writeFile: (path, content) => translated(fs.writeFile(real(path), content)),
    stat: (path) => translated(statOf(real(path))),
    readdir: (path) => translated(fs.readdir(real(path))),
    exists: (path) =>
      fs.stat(real(path)).then(
        () => true,
        () => false,
      ),
    mkdir: (path, options) => translated(fs.mkdir(real(path), options).then(() => {})),
    rm: (path, options) => translated(fs.rm(real(path), options)),
    realPath: async (path) => shown(await fs.realpath(real(path))),
  };
  return {
    sandbox: sandboxFromDriver(driver, cwd),
    async putFile(path, bytes) {
      await fs.mkdir(dirname(real(path)), { recursive: true });
      await fs.writeFile(real(path), bytes);
    },
    async run(command) {
      const idle = { env: undefined, timeoutMs: undefined, signal: undefined, key: undefined };
      return (await exec(command, { cwd: "/workspace", ...idle })).stdout;
    },
    bytesOf: (path) => fs.readFile(real(path)).catch(() => undefined),
    close: () => fs.rm(root, { recursive: true, force: true }),
  };
}

async function statOf(path: string): Promise<FileStat> {
  const [target, itself] = await Promise.all([fs.stat(path), fs.lstat(path)]);
  return {
    isFile: target.isFile(),
    isDirectory: target.isDirectory(),
    isSymbolicLink: itself.isSymbolicLink(),
    size: target.size,
    mtime: target.mtime,
  };
}

/** Ends with the shell itself, not with its pipes; a timeout or an abort kills the process group. */
function runShell(
  command: string,
  place: { cwd: string; env: Record<string, string> },
  { timeoutMs, signal }: Pick<DriverExecOptions, "timeoutMs" | "signal">,
): Promise<ExecResult> {
  const output = { out: [] as Buffer[], err: [] as Buffer[] };
  let timedOut = false;
  return new Promise<ExecResult>((resolve) => {
    const settle = (exitCode: number, message = "") => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", kill);
      resolve({
        stdout: Buffer.concat(output.out).toString(),
        stderr: Buffer.concat(output.err).toString() + message,
        exitCode,
      });
    };
    const kill = () => {
      if (child?.pid === undefined) return;
      try {
        process.kill(-child.pid, "SIGKILL");
      } catch {
        // The group has ended by itself.
      }
    };
    let timer: NodeJS.Timeout | undefined;
    let child: ReturnType<typeof spawnShell> | undefined;
    try {
      child = spawnShell(command, place);
    } catch (error) {
      settle(1, String(error));
      return;
    }
    if (timeoutMs !== undefined) {
      timer = setTimeout(() => {
        timedOut = true;
        kill();
      }, timeoutMs);
    }
    signal?.addEventListener("abort", kill, { once: true });
    child.stdout.on("data", (chunk: Buffer) => output.out.push(chunk));
    child.stderr.on("data", (chunk: Buffer) => output.err.push(chunk));
    child.on("error", (error) => settle(1, error.message));
    child.on("exit", (code) => {
      const exitCode = timedOut ? 124 : (code ?? 137);
      const drained = setTimeout(() => settle(exitCode), DRAIN_MS);
      child?.on("close", () => {
        clearTimeout(drained);
        settle(exitCode);
      });
    });
  });
}

function spawnShell(command: string, { cwd, env }: { cwd: string; env: Record<string, string> }) {
  return spawn("bash", ["-c", command], { cwd, env, detached: true, stdio: ["ignore", "pipe", "pipe"] });
}

const hasRipgrep = spawnSync("rg", ["--version"]).status === 0;

export const host: ContractDriver = {
  name: "host",
  backends: hasRipgrep ? ["rg", "grep"] : ["grep"],
  open,
  cannot: {},
};
