/** Types of `cloudflare:test`, of the package `workers-pool.ts` names. */
/// <reference types="@cloudflare/vitest-pool-workers/types" />
