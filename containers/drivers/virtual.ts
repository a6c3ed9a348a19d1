/**
 * `virtual()`: a sandbox inside the conversation itself, with just-bash as its shell and SQLite as its disk.
 *
 * It needs no container, no account and no network, has none to offer either, and survives eviction, restart and deploy.
 */
import { type Clock, systemClock, systemTimers, type Timers } from "../../durable-objects/protocol/clock.ts";
import type { SandboxFactory } from "../sandbox.ts";
import { sandboxFromDriver } from "../sandbox-from-driver.ts";
import { HOME_DIRECTORY } from "./virtual/shell.ts";
import { virtualDriver } from "./virtual/virtual-driver.ts";

export interface VirtualOptions {
  /** Variables layered over the fixed set; nothing comes from the host's environment. */
  env?: Record<string, string>;
  clock?: Clock;
  timers?: Timers;
}

export function virtual(options: VirtualOptions = {}): SandboxFactory {
  return {
    kind: "virtual",
    async createSandbox({ host }) {
      if (host === undefined) {
        throw new Error("virtual() keeps its files in the conversation: createSandbox() needs `host.files`.");
      }
      const driver = virtualDriver(host.files, {
        env: options.env ?? {},
        clock: options.clock ?? systemClock,
        timers: options.timers ?? systemTimers,
      });
      return sandboxFromDriver(driver, HOME_DIRECTORY);
    },
  };
}
