/**
 * `container()`: a real machine for each conversation, over `ctx.container` of an object class of our own and an image of
 * our own. Its files live as long as the container does.
 *
 * Source: ARCHITECTURE 6.
 */
import type { SandboxFactory } from "../sandbox.ts";
import { sandboxFromDriver } from "../sandbox-from-driver.ts";
import { deriveSandboxId } from "../sandbox-id.ts";
import { containerDriver } from "./container/container-driver.ts";

const WORKSPACE = "/workspace";

export interface ContainerOptions {
  /** Where relative paths start. */
  cwd?: string;
  /** How long the container stays up with nothing at work; its files go when it sleeps. */
  sleepAfterMs?: number;
}

export function container({ cwd = WORKSPACE, sleepAfterMs }: ContainerOptions = {}): SandboxFactory {
  return {
    kind: "container",
    async createSandbox({ host }) {
      const { containers, workspace } = host ?? {};
      if (containers === undefined || workspace === undefined) {
        throw new Error(
          "The sandbox container needs the binding CONTAINERS, which this deployment lacks: start with " +
            "`SANDBOX=container npm start`, deploy with `wrangler deploy --env container`, or set SANDBOX=virtual.",
        );
      }
      const name = deriveSandboxId(workspace.objectName, workspace.uid);
      if (sleepAfterMs !== undefined) await containers.getByName(name).setSleepAfter(sleepAfterMs);
      return sandboxFromDriver(containerDriver(containers, name), cwd);
    },
  };
}
