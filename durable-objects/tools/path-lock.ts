/**
 * Lets one writer at a time at a file, in the order in which the writers came.
 *
 * A `PathLocks` owns the queues of one conversation: parents, children, parallel tasks and scoped sandboxes share it. The
 * key is the sandbox's identity and the file's real path, so that every spelling and every link of a file meets in one
 * queue. A holder keeps its place until its work has ended, whatever becomes of its caller; a failure releases the queue.
 *
 * Source: contract TOOLS 6, D19.
 */
import { parentPath } from "../../containers/paths.ts";
import type { Sandbox } from "../../containers/sandbox.ts";
import { sandboxIdentity } from "../../containers/sandbox-identity.ts";

export interface PathLocks {
  /** Runs `work` when every earlier caller for the same file has ended. Gives and throws what `work` does. */
  hold<T>(env: Sandbox, path: string, work: () => Promise<T>): Promise<T>;
}

interface SandboxQueues {
  /** Settles when every caller so far stands in its file's queue. */
  arrivals: Promise<void>;
  /** The last holder of each file that somebody waits for or holds; never rejects. */
  tails: Map<string, Promise<void>>;
}

export function createPathLocks(): PathLocks {
  const sandboxes = new WeakMap<object, SandboxQueues>();

  function queuesOf(env: Sandbox): SandboxQueues {
    const identity = sandboxIdentity(env);
    const known = sandboxes.get(identity);
    if (known) return known;
    const fresh: SandboxQueues = { arrivals: Promise.resolve(), tails: new Map() };
    sandboxes.set(identity, fresh);
    return fresh;
  }

  return {
    async hold(env, path, work) {
      const queues = queuesOf(env);
      const { tails } = queues;
      // Real paths are looked up side by side, but callers queue in the order they came.
      const key = lockKey(env, path);
      const released = Promise.withResolvers<void>();
      const queued = queues.arrivals.then(async () => {
        const file = await key;
        const before = tails.get(file);
        tails.set(file, released.promise);
        return { file, before };
      });
      queues.arrivals = queued.then(() => {});

      const { file, before } = await queued;
      try {
        await before;
        return await work();
      } finally {
        if (tails.get(file) === released.promise) tails.delete(file);
        released.resolve();
      }
    },
  };
}

/** For tools made without a conversation: still one queue a file, since sandboxes are told apart by identity. */
export const sharedPathLocks: PathLocks = createPathLocks();

/** Never rejects: a path that cannot be resolved stands for itself. */
async function lockKey(env: Sandbox, path: string): Promise<string> {
  let resolved: string;
  try {
    resolved = env.resolvePath(path);
  } catch {
    return path;
  }
  return env.realPath ? realPathOfNew(env, resolved) : resolved;
}

/** The real path of a file that may not be there yet: that of its nearest folder, and the rest as written. */
async function realPathOfNew(env: Sandbox, resolved: string): Promise<string> {
  for (let known = resolved; known !== "/"; known = parentPath(known)) {
    try {
      const real = (await env.realPath?.(known)) ?? known;
      return (real === "/" ? "" : real) + resolved.slice(known.length);
    } catch {
      // Not there: ask for the folder above.
    }
  }
  return resolved;
}
