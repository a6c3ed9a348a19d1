/**
 * `local()`: the bash and the files of the machine the Berth is developed on, through a process that `npm run start:local`
 * starts beside the Worker. No isolation: a command can do what the developer can.
 *
 * Source: contract TOOLS 13.1. Differences: D13, D14, D18, D21, D24, and an abort releases its caller at once.
 */
import type { SandboxFactory } from "../sandbox.ts";
import { sandboxFromDriver } from "../sandbox-from-driver.ts";
import { createLocalClient } from "./local/local-client.ts";
import { localDriver } from "./local/local-driver.ts";

export interface LocalOptions {
  /** Instead of the process's folder, and relative to it. */
  cwd?: string;
  /** Over the variables commands inherit (TOOLS 13.1); `undefined` takes one away. */
  env?: Record<string, string | undefined>;
}

const NOT_STARTED =
  "SANDBOX=local needs BERTH_LOCAL_URL and BERTH_LOCAL_TOKEN: run `npm run start:local`, then start Berth again.";

export function local({ cwd, env = {} }: LocalOptions = {}): SandboxFactory {
  if (typeof env !== "object" || env === null || Array.isArray(env)) {
    throw new TypeError(
      "[flue] local() `env` must be a Record<string, string | undefined>. To inherit the full host env, pass `env: { ...process.env }`.",
    );
  }
  const overrides = { ...env };
  return {
    kind: "local",
    isShared: true,
    async createSandbox({ id, host }) {
      if (host?.local === undefined) throw new Error(NOT_STARTED);
      const client = createLocalClient(host.local);
      const opened = await client.ask("open", { id, cwd });
      // Without a name of its own a conversation finds its commands again only as long as this sandbox lives.
      const { objectName, uid } = host.workspace ?? { objectName: id, uid: crypto.randomUUID() };
      return sandboxFromDriver(
        localDriver(client, { scope: `${objectName}\0${uid}`, env: overrides }),
        String(opened.cwd),
      );
    },
  };
}
