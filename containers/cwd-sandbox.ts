/**
 * A sandbox seen from another working directory: the same files, the same locks, other relative paths.
 *
 * Absolute paths are not confined. Members of the parent outside the `Sandbox` interface are dropped.
 *
 * Source: contract TOOLS 11.4, D19.
 */
import { normalisePath, resolvePath } from "./paths.ts";
import type { Sandbox } from "./sandbox.ts";
import { shareSandboxIdentity } from "./sandbox-identity.ts";

/** `cwd` is absolute: callers pass `parent.resolvePath(cwd)`. */
export function createCwdSandbox(parent: Sandbox, cwd: string): Sandbox {
  const scoped = normalisePath(cwd);
  const resolve = (path: string) => resolvePath(scoped, path);
  const { search, keyedExec } = parent;
  const sandbox: Sandbox = {
    // A parent without a shell stays without one.
    exec:
      parent.exec &&
      ((command, { cwd: from, env, timeoutMs, signal, key } = {}) =>
        parent.exec(command, { cwd: from !== undefined ? resolve(from) : scoped, env, timeoutMs, signal, key })),
    readFile: async (path) => parent.readFile(resolve(path)),
    readFileBuffer: async (path) => parent.readFileBuffer(resolve(path)),
    writeFile: async (path, content) => parent.writeFile(resolve(path), content),
    stat: async (path) => parent.stat(resolve(path)),
    readdir: async (path) => parent.readdir(resolve(path)),
    exists: async (path) => parent.exists(resolve(path)),
    mkdir: async (path, options) => parent.mkdir(resolve(path), options),
    rm: async (path, options) => parent.rm(resolve(path), options),
    cwd: scoped,
    resolvePath: resolve,
    ...(parent.realPath && { realPath: async (path: string) => parent.realPath?.(resolve(path)) ?? resolve(path) }),
    ...(parent.generation && { generation: async () => parent.generation?.() }),
    ...(search && { search }),
    ...(keyedExec !== undefined && { keyedExec }),
  };
  return shareSandboxIdentity(sandbox, parent);
}
