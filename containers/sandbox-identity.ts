/**
 * Which sandbox objects are one sandbox: a scoped or overlaid copy shares the identity of what it was made from.
 *
 * Owns a weak table from a copy to its origin; only the functions here write it. Identities are compared by reference
 * and hold nothing (D19: the lock key).
 */
import type { Sandbox } from "./sandbox.ts";

const origins = new WeakMap<Sandbox, Sandbox>();

export function sandboxIdentity(sandbox: Sandbox): Sandbox {
  return origins.get(sandbox) ?? sandbox;
}

/** Declares `copy` another view of `origin`'s files. Gives `copy`. */
export function shareSandboxIdentity(copy: Sandbox, origin: Sandbox): Sandbox {
  origins.set(copy, origins.get(origin) ?? origin);
  return copy;
}
