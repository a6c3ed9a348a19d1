/**
 * Whether a sandbox has ripgrep: asked once for each exec function and never again, shared by concurrent first calls and
 * by all views of one sandbox.
 *
 * Owns a weak table from exec functions to answers. Source: contract TOOLS 8.
 */
import type { Sandbox } from "../../containers/sandbox.ts";
import { sandboxIdentity } from "../../containers/sandbox-identity.ts";
import { systemTimers, type Timers } from "../protocol/clock.ts";
import { RIPGREP_PROBE_GIVE_UP_MS, RIPGREP_PROBE_TIMEOUT_MS } from "../protocol/limits.ts";

const answers = new WeakMap<Sandbox["exec"], Promise<boolean>>();

/** Never rejects: whatever is not a plain yes within the time is a no, for good. */
export function hasRipgrep(env: Sandbox, timers: Timers = systemTimers): Promise<boolean> {
  const { exec } = sandboxIdentity(env);
  const known = answers.get(exec);
  if (known) return known;
  const answer = probe(env, timers);
  answers.set(exec, answer);
  return answer;
}

async function probe(env: Sandbox, timers: Timers): Promise<boolean> {
  const late = Promise.withResolvers<boolean>();
  const cancel = timers.after(RIPGREP_PROBE_GIVE_UP_MS, () => late.resolve(false));
  try {
    const answered = env.exec("rg --version", { timeoutMs: RIPGREP_PROBE_TIMEOUT_MS });
    return await Promise.race([answered.then((result) => result.exitCode === 0), late.promise]);
  } catch {
    return false;
  } finally {
    cancel();
  }
}
