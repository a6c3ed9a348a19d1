/**
 * The paths under which the runtime shows packaged skills: readable by name, never written (D20).
 *
 * Source: contract TOOLS 11.5, 14.3, 15.
 */
import type { Sandbox } from "../../containers/sandbox.ts";
import { PACKAGED_SKILLS_PREFIX } from "../skills/packaged-path.ts";

/** Throws for a path that resolves below the packaged skills. The text names the path as given. */
export function throwIfReadOnly(env: Sandbox, path: string): void {
  if (resolved(env, path).startsWith(PACKAGED_SKILLS_PREFIX)) throw new Error(`${path} is read-only.`);
}

function resolved(env: Sandbox, path: string): string {
  try {
    return env.resolvePath(path);
  } catch {
    return path;
  }
}
