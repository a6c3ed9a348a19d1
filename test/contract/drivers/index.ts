/** The drivers the contract suite runs over: in the lab the one that needs it, elsewhere all others. */
import { inject } from "vitest";
import { bash } from "./bash.ts";
import { cloudflare } from "./cloudflare.ts";
import { containerContract } from "./container.ts";
import type { ContractDriver } from "./contract-driver.ts";
import { local } from "./local.ts";
import { virtual } from "./virtual.ts";

const bridgeUrl = inject("bridgeUrl");
/** `berth-exec` reads /proc, as images have it. */
const onLinux = process.platform === "linux" ? [cloudflare] : [];

export const contractDrivers: readonly ContractDriver[] =
  bridgeUrl === undefined ? [local, virtual, bash, ...onLinux] : [containerContract(bridgeUrl)];
