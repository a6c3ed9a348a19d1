/**
 * Whether a sandbox has ripgrep: asked once for each exec function, shared by concurrent first calls, and the answer kept
 * for good.
 *
 * An answer is a yes (exit code 0), a no (127, the shell found no such program) or silence, which counts as a no. A probe
 * that was killed, ran into its timeout or failed with its sandbox says nothing of ripgrep: it is made once more, and if
 * that fails too the search at hand takes grep and the next one asks again.
 *
 * Owns a weak table from exec functions to answers. Source: contract TOOLS 8.
 */
import type { Sandbox } from "../../containers/sandbox.ts";
import { systemTimers, type Timers } from "../protocol/clock.ts";
import { RIPGREP_PROBE_GIVE_UP_MS, RIPGREP_PROBE_TIMEOUT_MS } from "../protocol/limits.ts";

/** `undefined`: the probe failed. */
type Answer = boolean | undefined;

const PROGRAM_NOT_FOUND = 127;

const answers = new WeakMap<Sandbox["exec"], Promise<Answer>>();

/** Never rejects: whatever is not a plain yes within the time is a no. */
export async function hasRipgrep(env: Sandbox, timers: Timers = systemTimers): Promise<boolean> {
  const { exec } = env;
  const asking = answers.get(exec) ?? probe(env, timers);
  answers.set(exec, asking);
  const answer = await asking;
  // Not where another search has asked again meanwhile.
  if (answer === undefined && answers.get(exec) === asking) answers.delete(exec);
  return answer ?? false;
}

async function probe(env: Sandbox, timers: Timers): Promise<Answer> {
  const late = Promise.withResolvers<Answer>();
  let hasFailed = false;
  const cancel = timers.after(RIPGREP_PROBE_GIVE_UP_MS, () => late.resolve(hasFailed ? undefined : false));
  const askTwice = async (): Promise<Answer> => {
    const first = await ask(env);
    hasFailed = first === undefined;
    return hasFailed ? ask(env) : first;
  };
  try {
    return await Promise.race([askTwice(), late.promise]);
  } finally {
    cancel();
  }
}

async function ask(env: Sandbox): Promise<Answer> {
  try {
    const { exitCode } = await env.exec("rg --version", { timeoutMs: RIPGREP_PROBE_TIMEOUT_MS });
    if (exitCode === 0) return true;
    return exitCode === PROGRAM_NOT_FOUND ? false : undefined;
  } catch {
    return undefined;
  }
}
