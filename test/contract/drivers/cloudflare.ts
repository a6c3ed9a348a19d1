/**
 * `cloudflareSandbox()` over a double of the SDK with real processes.
 *
 * The sandbox under test has real paths; round it stands one whose `/workspace` is the double's, which replaces the words
 * in command lines and answers.
 */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { cloudflareSandbox } from "../../../containers/drivers/cloudflare-sandbox.ts";
import type { Sandbox } from "../../../containers/sandbox.ts";
import { sandboxFromDriver } from "../../../containers/sandbox-from-driver.ts";
import { openSandboxSdk } from "../sandbox-sdk-double.ts";
import type { ContractDriver, OpenOptions, OpenSandbox } from "./contract-driver.ts";
import { local } from "./local.ts";

const script = join(import.meta.dirname, "../../../containers/image/berth-exec");

async function open({ cwd, ripgrep }: OpenOptions): Promise<OpenSandbox> {
  const double = await openSandboxSdk({ ripgrep });
  const real = (path: string) => join(double.root, path);
  const inner = await cloudflareSandbox(double.stub, {
    ...{ cwd: real("/workspace"), user: double.user, script, stateFolder: real("/state") },
  }).createSandbox({ id: "contract" });
  await inner.mkdir(real(cwd), { recursive: true });
  return {
    sandbox: mapped(inner, double.root, cwd),
    async putFile(path, bytes) {
      await inner.writeFile(real(path), bytes);
    },
    async run(command) {
      const line = command.replaceAll("/workspace", real("/workspace"));
      return (await inner.exec(line)).stdout.replaceAll(double.root, "");
    },
    bytesOf: (path) => readFile(real(path)).catch(() => undefined),
    close: () => double.close(),
  };
}

function mapped(inner: Sandbox, root: string, cwd: string): Sandbox {
  const real = (path: string) => join(root, path);
  const shown = (text: string) => text.replaceAll(root, "");
  async function translated<T>(work: Promise<T>): Promise<T> {
    try {
      return await work;
    } catch (error) {
      if (error instanceof Error && error.name !== "AbortError") error.message = shown(error.message);
      throw error;
    }
  }
  return sandboxFromDriver(
    {
      async exec(command, options) {
        const line = command.replaceAll("/workspace", real("/workspace"));
        const result = await translated(inner.exec(line, { ...options, cwd: real(options.cwd) }));
        return { ...result, stdout: shown(result.stdout), stderr: shown(result.stderr) };
      },
      readFile: (path) => translated(inner.readFile(real(path))),
      readFileBuffer: (path) => translated(inner.readFileBuffer(real(path))),
      writeFile: (path, content) => translated(inner.writeFile(real(path), content)),
      stat: (path) => translated(inner.stat(real(path))),
      readdir: (path) => translated(inner.readdir(real(path))),
      exists: (path) => inner.exists(real(path)),
      mkdir: (path, options) => translated(inner.mkdir(real(path), options)),
      rm: (path, options) => translated(inner.rm(real(path), options)),
      realPath: async (path) => shown((await inner.realPath?.(real(path))) ?? path),
    },
    cwd,
  );
}

export const cloudflare: ContractDriver = { name: "cloudflare", backends: local.backends, open, cannot: {} };
