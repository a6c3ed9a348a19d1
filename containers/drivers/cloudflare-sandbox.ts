/**
 * `cloudflareSandbox()`: a container per conversation through `@cloudflare/sandbox`, the deployed default.
 *
 * Source: contract TOOLS 13.3; ARCHITECTURE 6.
 */
import { systemTimers, type Timers } from "../../durable-objects/protocol/clock.ts";
import type { SandboxFactory } from "../sandbox.ts";
import { sandboxFromDriver } from "../sandbox-from-driver.ts";
import { cloudflareDriver } from "./cloudflare-sandbox/cloudflare-driver.ts";
import { openStub } from "./cloudflare-sandbox/open-stub.ts";
import type { SandboxStub } from "./cloudflare-sandbox/stub.ts";

export type { SandboxStub } from "./cloudflare-sandbox/stub.ts";

const DEFAULT_CWD = "/workspace";

export interface CloudflareSandboxOptions {
  cwd?: string;
  timers?: Timers;
  /** A word no other call is given. */
  newToken?: () => string;
  /** Where the image keeps `berth-exec`, and where its state goes. */
  script?: string;
  stateFolder?: string;
}

/**
 * @param stub of `getSandbox(namespace, id, { enableDefaultSession: false })`; absent: the binding `Sandbox`, under an id
 *   of the conversation's own.
 */
export function cloudflareSandbox(stub?: SandboxStub, options: CloudflareSandboxOptions = {}): SandboxFactory {
  const {
    cwd = DEFAULT_CWD,
    timers = systemTimers,
    newToken = () => crypto.randomUUID(),
    script,
    stateFolder,
  } = options;
  return {
    kind: "cloudflare",
    async createSandbox(asked) {
      const opened = stub ?? (await openStub(asked));
      return sandboxFromDriver(cloudflareDriver(opened, { timers, newToken, script, stateFolder }), cwd);
    },
  };
}
