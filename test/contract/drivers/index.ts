/** The drivers the contract suite runs over. */
import type { ContractDriver } from "./contract-driver.ts";
import { local } from "./local.ts";
import { virtual } from "./virtual.ts";

export const contractDrivers: readonly ContractDriver[] = [local, virtual];
