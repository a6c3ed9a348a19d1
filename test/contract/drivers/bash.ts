/** `bash(factory)` over just-bash with files in memory. */
import { Bash, InMemoryFs } from "just-bash";
import { bash as createBash } from "../../../containers/drivers/bash.ts";
import { parentPath } from "../../../containers/paths.ts";
import type { ContractDriver, OpenOptions, OpenSandbox } from "./contract-driver.ts";
import { virtual } from "./virtual.ts";

async function open({ cwd }: OpenOptions): Promise<OpenSandbox> {
  const fs = new InMemoryFs();
  await fs.mkdir(cwd, { recursive: true });
  await fs.mkdir("/workspace", { recursive: true });
  const shell = new Bash({ fs, cwd, defenseInDepth: false });
  return {
    sandbox: await createBash(() => shell).createSandbox({ id: "contract" }),
    async putFile(path, bytes) {
      await fs.mkdir(parentPath(path), { recursive: true });
      await fs.writeFile(path, bytes);
    },
    async run(command) {
      return (await shell.exec(command, { cwd: "/workspace", rawScript: true })).stdout;
    },
    bytesOf: (path) => fs.readFileBuffer(path).catch(() => undefined),
    async close() {},
  };
}

/** What just-bash cannot do, and what its files in memory and its own `sleep` do not keep. */
const cannot = {
  ...virtual.cannot,
  "write-hard-link": "a hard link is a copy in memory",
  "write-mode-kept": "an overwrite drops the mode in memory",
  "bash-timeout-hit": "an abort loses the output of just-bash's own sleep",
};

export const bash: ContractDriver = { name: "bash", backends: "own", open, cannot };
