/**
 * Makes a `Sandbox` of a driver: resolves and clamps paths, makes parents on a write, races commands against aborts.
 *
 * Source: contract TOOLS 10, 11.2, 11.3.
 */
import { type OrphanObserver, raceExecAbort } from "./abort-race.ts";
import type { SandboxDriver } from "./driver.ts";
import { parentPath, resolvePath } from "./paths.ts";
import type { Sandbox } from "./sandbox.ts";

export interface SandboxFromDriverOptions {
  onOrphanSettled?: OrphanObserver;
}

/** `cwd` is kept verbatim; the driver sees absolute, normalised paths only. */
export function sandboxFromDriver(
  driver: SandboxDriver,
  cwd: string,
  { onOrphanSettled }: SandboxFromDriverOptions = {},
): Sandbox {
  const resolve = (path: string) => resolvePath(cwd, path);
  return {
    exec: (command, { cwd: from, env, timeoutMs, signal, key } = {}) =>
      raceExecAbort({
        command,
        signal,
        onOrphanSettled,
        run: () => driver.exec(command, { cwd: from !== undefined ? resolve(from) : cwd, env, timeoutMs, signal, key }),
      }),
    readFile: async (path) => driver.readFile(resolve(path)),
    readFileBuffer: async (path) => driver.readFileBuffer(resolve(path)),
    writeFile: async (path, content) => {
      const target = resolve(path);
      await writeFileCreatingParents(
        () => driver.writeFile(target, content),
        () => driver.mkdir(parentPath(target), { recursive: true }),
      );
    },
    stat: async (path) => driver.stat(resolve(path)),
    readdir: async (path) => driver.readdir(resolve(path)),
    exists: async (path) => driver.exists(resolve(path)),
    mkdir: async (path, options) => driver.mkdir(resolve(path), options),
    rm: async (path, options) => driver.rm(resolve(path), options),
    cwd,
    resolvePath: resolve,
    ...driverExtras(driver, resolve),
  };
}

/** The optional members, present only where the driver has them. */
function driverExtras(
  driver: SandboxDriver,
  resolve: (path: string) => string,
): Pick<Sandbox, "realPath" | "generation" | "search" | "keyedExec"> {
  const { search, keyedExec } = driver;
  return {
    ...(driver.realPath && { realPath: async (path: string) => driver.realPath?.(resolve(path)) ?? resolve(path) }),
    ...(driver.generation && { generation: async () => driver.generation?.() }),
    ...(search && { search }),
    ...(keyedExec !== undefined && { keyedExec }),
  };
}

/** Tries, makes the parent after any failure, tries once more; the second failure is the one reported. */
export async function writeFileCreatingParents(
  write: () => Promise<void>,
  makeParent: () => Promise<void>,
): Promise<void> {
  try {
    await write();
  } catch {
    // A parent that cannot be made shows itself in the second attempt.
    await makeParent().catch(() => {});
    await write();
  }
}
