/**
 * `local()` itself, over a local process's server inside the test: real bash, rg, grep and find in a temporary folder.
 *
 * `/` of the sandbox is that folder: command lines have `/workspace` replaced by the real folder, and answers back again;
 * other absolute paths in commands reach the machine itself.
 */
import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { rmSync } from "node:fs";
import * as fs from "node:fs/promises";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { DriverExecOptions, SandboxDriver } from "../../../containers/driver.ts";
import { local as localSandbox } from "../../../containers/drivers/local.ts";
import { baseEnvironment } from "../../../containers/local/base-environment.ts";
import { createLocalCommands } from "../../../containers/local/local-commands.ts";
import { createLocalServer } from "../../../containers/local/local-server.ts";
import type { ExecResult } from "../../../containers/sandbox.ts";
import { sandboxFromDriver } from "../../../containers/sandbox-from-driver.ts";
import type { ContractDriver, OpenOptions, OpenSandbox } from "./contract-driver.ts";

const TOKEN = "contract";

export interface LocalTestServer {
  url: string;
  token: string;
  stateFolder: string;
}

/** Keeps no process alive. */
export async function startLocalServer(folder: string): Promise<LocalTestServer> {
  const stateFolder = await fs.mkdtemp(join(tmpdir(), "berth-exec-state-"));
  process.once("exit", () => rmSync(stateFolder, { recursive: true, force: true }));
  const server = createLocalServer({
    token: TOKEN,
    folder,
    commands: createLocalCommands({
      script: join(import.meta.dirname, "../../../containers/image/berth-exec"),
      stateFolder,
      environment: baseEnvironment(process.env),
    }),
  });
  server.listen(0, "127.0.0.1").unref();
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, token: TOKEN, stateFolder };
}

let shared: Promise<LocalTestServer> | undefined;

async function open({ cwd, ripgrep }: OpenOptions): Promise<OpenSandbox> {
  const root = await fs.realpath(await fs.mkdtemp(join(tmpdir(), "berth-local-")));
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

  shared ??= startLocalServer(tmpdir());
  const env = { LANG: "C.UTF-8", TZ: "UTC", HOME: "/home/user", PATH: `${bin}:${process.env.PATH}` };
  const machine = await localSandbox({ cwd: root, env }).createSandbox({
    id: "contract",
    host: { files: undefined as never, local: await shared },
  });

  async function exec(command: string, options: DriverExecOptions): Promise<ExecResult> {
    await fs.mkdir(real(options.cwd), { recursive: true });
    const line = command.replaceAll("/workspace", real("/workspace"));
    const result = await machine.exec(line, { ...options, cwd: real(options.cwd) });
    return { ...result, stdout: shown(result.stdout), stderr: shown(result.stderr) };
  }

  const driver: SandboxDriver = {
    exec,
    readFile: (path) => translated(machine.readFile(real(path))),
    readFileBuffer: (path) => translated(machine.readFileBuffer(real(path))),
    writeFile: (path, content) => translated(machine.writeFile(real(path), content)),
    stat: (path) => translated(machine.stat(real(path))),
    readdir: (path) => translated(machine.readdir(real(path))),
    exists: (path) => machine.exists(real(path)),
    mkdir: (path, options) => translated(machine.mkdir(real(path), options)),
    rm: (path, options) => translated(machine.rm(real(path), options)),
    realPath: async (path) => shown((await machine.realPath?.(real(path))) ?? ""),
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

const hasRipgrep = spawnSync("rg", ["--version"]).status === 0;

export const local: ContractDriver = {
  name: "local",
  backends: hasRipgrep ? ["rg", "grep"] : ["grep"],
  open,
  cannot: {},
};
