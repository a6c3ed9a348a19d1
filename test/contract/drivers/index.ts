/** The drivers the contract suite runs over. */
import type { ContractDriver } from "./contract-driver.ts";
import { host } from "./host.ts";
import { virtual } from "./virtual.ts";

export const contractDrivers: readonly ContractDriver[] = [host, virtual];
