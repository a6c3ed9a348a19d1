/**
 * `container()` in a real container, through the lab's bridge. Set-up runs as root, tool calls as the image's own user.
 */

import type { ProgramResult } from "../../../containers/container-rpc.ts";
import { parentPath } from "../../../containers/paths.ts";
import { shellQuote } from "../../../containers/shell-quote.ts";
import { bridgedSandbox } from "../../lab/bridge/bridge-client.ts";
import type { ContractDriver, OpenOptions, OpenSandbox } from "./contract-driver.ts";

const MAX_BYTES = 24 * 1024 * 1024;
const USER = "berth:berth";

/** @param url of the running bridge */
export function containerContract(url: string): ContractDriver {
  async function open({ cwd, ripgrep }: OpenOptions): Promise<OpenSandbox> {
    const { sandbox, call } = bridgedSandbox({ url, cwd });
    async function asRoot(script: string, stdin?: Uint8Array): Promise<ProgramResult> {
      const options = { operation: "exec", cwd: "/workspace", maxBytes: MAX_BYTES, ...(stdin && { stdin }) };
      return (await call("runProgram", ["bash", "-c", script], options)) as ProgramResult;
    }
    await asRoot(ripgrep ? "true" : "printf '#!/bin/sh\\nexit 127\\n' > /usr/bin/rg; chmod 755 /usr/bin/rg");
    return {
      sandbox,
      async putFile(path, bytes) {
        const [file, folder] = [shellQuote(path), shellQuote(parentPath(path))];
        const { exitCode, stderr } = await asRoot(
          `mkdir -p ${folder} && cat > ${file} && chown -R ${USER} ${folder} 2>/dev/null; [ -f ${file} ]`,
          bytes,
        );
        if (exitCode !== 0) throw new Error(`${path} could not be put: ${Buffer.from(stderr)}`);
      },
      async run(command) {
        const { stdout } = await asRoot(`${command}\nchown -R ${USER} /workspace`);
        return Buffer.from(stdout).toString();
      },
      async bytesOf(path) {
        const { stdout, exitCode } = await asRoot(`cat ${shellQuote(path)}`);
        return exitCode === 0 ? stdout : undefined;
      },
      async close() {
        await call("destroyContainer");
      },
    };
  }
  return { name: "container", backends: ["rg", "grep"], open, cannot: {} };
}
