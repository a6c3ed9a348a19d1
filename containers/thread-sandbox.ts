/**
 * A sandbox as one thread of a conversation uses it: keys of commands get the thread's name before them, so that a call
 * id names one execution in the whole sandbox.
 *
 * Source: contract TOOLS 12; ARCHITECTURE 5.
 */
import type { Sandbox } from "./sandbox.ts";
import { shareSandboxIdentity } from "./sandbox-identity.ts";

const ROOT_NAME = "root";

/** @param thread `""` for the root conversation. */
export function createThreadSandbox(sandbox: Sandbox, thread: string): Sandbox {
  const prefix = thread === "" ? ROOT_NAME : thread;
  const scoped: Sandbox = {
    ...sandbox,
    exec:
      sandbox.exec &&
      ((command, options) => {
        const key = options?.key === undefined ? undefined : `${prefix}/${options.key}`;
        return sandbox.exec(command, { ...options, key });
      }),
  };
  return shareSandboxIdentity(scoped, sandbox);
}
