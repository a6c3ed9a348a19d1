/** The embedded driver: just-bash over files in a database in memory. */
import { createCwdSandbox } from "../../../containers/cwd-sandbox.ts";
import { virtual as createVirtual } from "../../../containers/drivers/virtual.ts";
import { parentPath } from "../../../containers/paths.ts";
import type { Sandbox } from "../../../containers/sandbox.ts";
import { createFileStore, FILES_SCHEMA } from "../../../durable-objects/conversation/store/files.ts";
import { nodeDatabase } from "../../unit/node-database.ts";
import type { ContractDriver, OpenOptions, OpenSandbox } from "./contract-driver.ts";

async function open({ cwd }: OpenOptions): Promise<OpenSandbox> {
  const db = nodeDatabase();
  for (const statement of FILES_SCHEMA) db.run(statement);
  const host = { files: createFileStore(db) };
  const root: Sandbox = await createVirtual().createSandbox({ id: "contract", host });
  await root.mkdir("/workspace", { recursive: true });
  return {
    sandbox: cwd === root.cwd ? root : createCwdSandbox(root, cwd),
    async putFile(path, bytes) {
      await root.mkdir(parentPath(path), { recursive: true });
      await root.writeFile(path, bytes);
    },
    async run(command) {
      return (await root.exec(command)).stdout;
    },
    bytesOf: (path) => root.readFileBuffer(path).catch(() => undefined),
    async close() {},
  };
}

/** The emulated shell's own limits; none of them concerns files. */
const cannot = {
  "bash-redirected": "2>&1 is not in the order of printing",
  "bash-bom-trim": "drops a byte order mark",
  "bash-binary-out": "printf is not binary-safe",
  "bash-units-5119*": "/dev/zero is empty",
  "bash-units-5120*": "/dev/zero is empty",
  "bash-units-60000": "/dev/zero is empty",
  D18: "a search over more than the isolate's limits is an error",
};

export const virtual: ContractDriver = { name: "virtual", backends: "own", open, cannot };
