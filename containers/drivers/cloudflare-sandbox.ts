/**
 * `cloudflareSandbox()`: a container per conversation through `@cloudflare/sandbox`, the deployed default.
 *
 * Source: contract TOOLS 13.3; ARCHITECTURE 6.
 */
import { systemTimers, type Timers } from "../../durable-objects/protocol/clock.ts";
import type { SandboxFactory } from "../sandbox.ts";
import { sandboxFromDriver } from "../sandbox-from-driver.ts";
import { IMAGE_USER, type SandboxUser } from "../sandbox-user.ts";
import { cloudflareDriver } from "./cloudflare-sandbox/cloudflare-driver.ts";
import { openStub } from "./cloudflare-sandbox/open-stub.ts";
import type { SandboxStub } from "./cloudflare-sandbox/stub.ts";

export type { SandboxUser } from "../sandbox-user.ts";
export type { SandboxStub } from "./cloudflare-sandbox/stub.ts";

const DEFAULT_CWD = "/workspace";

export interface CloudflareSandboxOptions {
  cwd?: string;
  /**
   * As whom commands and file verbs run: a user of the image, who can write where it is to work. `null`: as the SDK's own
   * server does, which is root in its images. Absent: `berth`, whom our image creates, with `/workspace` for a home.
   */
  user?: SandboxUser | null;
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
    user = IMAGE_USER,
    timers = systemTimers,
    newToken = () => crypto.randomUUID(),
    script,
    stateFolder,
  } = options;
  return {
    kind: "cloudflare",
    async createSandbox(asked) {
      const opened = stub ?? (await openStub(asked));
      const driver = cloudflareDriver(opened, { user: user ?? undefined, timers, newToken, script, stateFolder });
      return sandboxFromDriver(driver, cwd);
    },
  };
}
