/**
 * `container()` in real containers, through the lab's bridge. Set-up runs as root, tool calls as the image's own user.
 *
 * A container costs a second to start, so one that is done with is wiped and used again: processes, workspace, what was
 * put elsewhere, and the outcomes of keyed commands.
 */
import type { ProgramResult } from "../../../containers/container-rpc.ts";
import { parentPath } from "../../../containers/paths.ts";
import { shellQuote } from "../../../containers/shell-quote.ts";
import { bridgedSandbox } from "../../lab/bridge/bridge-client.ts";
import type { ContractDriver, OpenOptions, OpenSandbox } from "./contract-driver.ts";

const MAX_BYTES = 24 * 1024 * 1024;
const USER = "berth";
const HIDE_RIPGREP = "printf '#!/bin/sh\\nexit 127\\n' > /usr/local/bin/rg; chmod 755 /usr/local/bin/rg";
const WIPE = `find /workspace -mindepth 1 -delete; chown ${USER}:${USER} /workspace; chmod 755 /workspace
rm -rf /var/lib/berth-exec /usr/local/bin/rg`;

/** @param url of the running bridge */
export function containerContract(url: string): ContractDriver {
  const idle: string[] = [];

  async function open({ cwd, ripgrep }: OpenOptions): Promise<OpenSandbox> {
    const known = idle.pop();
    const { sandbox, name, call } = bridgedSandbox({ url, cwd, ...(known !== undefined && { name: known }) });
    const outside = new Set<string>();
    async function run(script: string, extra: { stdin?: Uint8Array; user?: string } = {}): Promise<ProgramResult> {
      const options = { operation: "exec", cwd: "/", maxBytes: MAX_BYTES, ...extra };
      return (await call("runProgram", ["bash", "-c", script], options)) as ProgramResult;
    }
    if (!ripgrep) await run(HIDE_RIPGREP);
    if (!cwd.startsWith("/workspace")) {
      await run(`mkdir -p ${shellQuote(cwd)} && chown ${USER} ${shellQuote(cwd)}`);
      outside.add(cwd);
    }
    return {
      sandbox,
      async putFile(path, bytes) {
        if (!path.startsWith("/workspace/")) outside.add(path);
        const [file, folder] = [shellQuote(path), shellQuote(parentPath(path))];
        const { exitCode, stderr } = await run(
          `mkdir -p ${folder} && cat > ${file} && chown ${USER}:${USER} ${folder} ${file}`,
          { stdin: bytes },
        );
        if (exitCode !== 0) throw new Error(`${path} could not be put: ${Buffer.from(stderr)}`);
      },
      async run(command) {
        const { stdout } = await run(`cd /workspace\n${command}\nchown -hR ${USER}:${USER} /workspace`);
        return Buffer.from(stdout).toString();
      },
      async bytesOf(path) {
        const { stdout, exitCode } = await run(`cat ${shellQuote(path)}`);
        return exitCode === 0 ? stdout : undefined;
      },
      async close() {
        await run("kill -KILL -1", { user: USER }).catch(() => {});
        await run([WIPE, ...[...outside].map((path) => `rm -rf ${shellQuote(path)}`)].join("\n"));
        idle.push(name);
      },
    };
  }
  return { name: "container", backends: ["rg", "grep"], open, cannot: {} };
}
