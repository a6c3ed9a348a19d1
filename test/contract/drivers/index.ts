/** The drivers the contract suite runs over: in the lab the one that needs it, elsewhere all others. */
import { inject } from "vitest";
import { containerContract } from "./container.ts";
import type { ContractDriver } from "./contract-driver.ts";
import { local } from "./local.ts";
import { virtual } from "./virtual.ts";

const bridgeUrl = inject("bridgeUrl");

export const contractDrivers: readonly ContractDriver[] =
  bridgeUrl === undefined ? [local, virtual] : [containerContract(bridgeUrl)];
