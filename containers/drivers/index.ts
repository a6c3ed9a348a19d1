/**
 * The catalogue of drivers, and the choice the setting `SANDBOX` makes among them.
 *
 * Source: contract RUNTIME 9 (`SANDBOX`); ARCHITECTURE 6.
 */
import type { SandboxKind } from "../../durable-objects/protocol/settings.ts";
import { CONFIGURED_KIND } from "../configured.ts";
import type { SandboxFactory } from "../sandbox.ts";
import { cloudflareSandbox } from "./cloudflare-sandbox.ts";
import { container } from "./container.ts";
import { local } from "./local.ts";
import { virtual } from "./virtual.ts";

export { bash } from "./bash.ts";
export { cloudflareSandbox } from "./cloudflare-sandbox.ts";
export { container } from "./container.ts";
export { local } from "./local.ts";
export { virtual } from "./virtual.ts";

export interface DriverEntry {
  kind: string;
  create(): SandboxFactory;
}

export const DRIVERS: Readonly<Record<string, DriverEntry>> = {
  cloudflare: { kind: "cloudflare", create: cloudflareSandbox },
  virtual: { kind: "virtual", create: virtual },
  container: { kind: "container", create: container },
  local: { kind: "local", create: local },
};

/**
 * The factory an agent's `useSandbox` stands for: a configured one becomes that of `kind`, any other stays as it is.
 * `undefined` for `none`: the agent then works as if it had not called `useSandbox`.
 */
export function resolveConfigured(factory: SandboxFactory, kind: SandboxKind): SandboxFactory | undefined {
  if (factory.kind !== CONFIGURED_KIND) return factory;
  if (kind === "none") return undefined;
  const driver = DRIVERS[kind];
  if (driver === undefined) {
    const built = [...Object.keys(DRIVERS), "none"].join(", ");
    throw new Error(`SANDBOX=${kind} is not built yet. Set SANDBOX to one of: ${built}.`);
  }
  return driver.create();
}
