import { describe, expect, it, vi } from "vitest";
import type { OrphanSettlement } from "../../containers/abort-race.ts";
import { createCwdSandbox } from "../../containers/cwd-sandbox.ts";
import type { DriverExecOptions, SandboxDriver } from "../../containers/driver.ts";
import type { ExecResult, Sandbox, SandboxSearch } from "../../containers/sandbox.ts";
import { sandboxFromDriver } from "../../containers/sandbox-from-driver.ts";
import { sandboxIdentity } from "../../containers/sandbox-identity.ts";

const DONE: ExecResult = { stdout: "done", stderr: "", exitCode: 0 };
const ELEVEN = [
  "exec",
  "readFile",
  "readFileBuffer",
  "writeFile",
  "stat",
  "readdir",
  "exists",
  "mkdir",
  "rm",
  "cwd",
  "resolvePath",
];
const MAY_STILL_RUN = " The sandbox command could not be confirmed cancelled and may still be running.";

function driverOf(overrides: Partial<SandboxDriver> = {}): SandboxDriver {
  return {
    exec: async () => DONE,
    readFile: async (path) => path,
    readFileBuffer: async () => new Uint8Array(),
    writeFile: async () => {},
    stat: async () => ({ isFile: true, isDirectory: false }),
    readdir: async (path) => [path],
    exists: async () => true,
    mkdir: async () => {},
    rm: async () => {},
    ...overrides,
  };
}

/** Lets every microtask that is due run. */
const settleMicrotasks = () => new Promise((resolve) => setTimeout(resolve, 0));

describe("sandboxFromDriver", () => {
  it("has exactly the eleven standard members over a driver without extras", () => {
    expect(Object.keys(sandboxFromDriver(driverOf(), "/w"))).toEqual(ELEVEN);
  });

  it("shows real paths, search verbs and keyedExec only where the driver has them", async () => {
    const search: SandboxSearch = { grep: async () => DONE, glob: async () => DONE };
    const realPath = vi.fn(async (path: string) => `/real${path}`);
    const sandbox = sandboxFromDriver(driverOf({ search, keyedExec: false, realPath }), "/w");
    expect(Object.keys(sandbox)).toEqual([...ELEVEN, "realPath", "search", "keyedExec"]);
    expect(await sandbox.realPath?.("../a")).toBe("/real/a");
    expect([sandbox.search, sandbox.keyedExec]).toEqual([search, false]);
  });

  it("hands every verb absolute, clamped paths, so that a driver never resolves", async () => {
    const sandbox = sandboxFromDriver(driverOf(), "/w");
    expect(await sandbox.readFile("../../../a/./b")).toBe("/a/b");
    expect(await sandbox.readdir("")).toEqual(["/w"]);
  });

  it("always passes all five options of a command", async () => {
    const exec = vi.fn(async (_command: string, _options: DriverExecOptions) => DONE);
    const sandbox = sandboxFromDriver(driverOf({ exec }), "/w");
    await sandbox.exec("a");
    await sandbox.exec("b", { cwd: "", key: "k", timeoutMs: 5, env: { A: "1" } });
    await sandbox.exec("c", { cwd: "sub" });
    const unset = { env: undefined, timeoutMs: undefined, signal: undefined, key: undefined };
    expect(exec.mock.calls.map(([, options]) => options)).toEqual([
      { cwd: "/w", ...unset },
      { cwd: "/w", env: { A: "1" }, timeoutMs: 5, signal: undefined, key: "k" },
      { cwd: "/w/sub", ...unset },
    ]);
    expect(Object.keys(exec.mock.calls[0]?.[1] ?? {})).toEqual(["cwd", "env", "timeoutMs", "signal", "key"]);
  });

  it("makes the parent after a failed write and reports the second failure", async () => {
    const log: string[] = [];
    const sandbox = sandboxFromDriver(
      driverOf({
        writeFile: async (path) => {
          log.push(`write ${path}`);
          throw new Error(`failure ${log.length}`);
        },
        mkdir: async (path, options) => {
          log.push(`mkdir ${path} ${JSON.stringify(options)}`);
          throw new Error("mkdir");
        },
      }),
      "/w",
    );
    await expect(sandbox.writeFile("a/b", "x")).rejects.toThrow("failure 3");
    expect(log).toEqual(["write /w/a/b", 'mkdir /w/a {"recursive":true}', "write /w/a/b"]);
  });

  it("writes once when the first write succeeds, so that no folder is made in vain", async () => {
    const mkdir = vi.fn(async () => {});
    await sandboxFromDriver(driverOf({ mkdir }), "/w").writeFile("a", "x");
    expect(mkdir).not.toHaveBeenCalled();
  });
});

describe("an aborted command", () => {
  function hanging() {
    const ended = Promise.withResolvers<ExecResult>();
    const settlements: OrphanSettlement[] = [];
    const exec = vi.fn((_command: string, _options: DriverExecOptions) => ended.promise);
    const sandbox = sandboxFromDriver(driverOf({ exec }), "/w", {
      onOrphanSettled: (settlement) => settlements.push(settlement),
    });
    return { ended, settlements, exec, sandbox, controller: new AbortController() };
  }

  it("never starts when the signal was aborted before", async () => {
    const { sandbox, exec, controller } = hanging();
    controller.abort(new Error("Too late."));
    const call = sandbox.exec("x", { signal: controller.signal });
    await expect(call).rejects.toMatchObject({ name: "AbortError", message: "Too late." });
    expect(exec).not.toHaveBeenCalled();
  });

  it.each([
    ["an error", new Error("User stopped."), "User stopped."],
    ["a text", "Stop it", "Stop it"],
    ["an empty text", "", "The operation was aborted."],
    ["an object", { code: 7 }, "The operation was aborted."],
    ["nothing", undefined, "The operation was aborted."],
  ])("releases its caller at once and tells the reason when that is %s", async (_kind, reason, base) => {
    const { sandbox, controller } = hanging();
    const call = sandbox.exec("x", { signal: controller.signal });
    if (reason === undefined) controller.abort();
    else controller.abort(reason);
    const error = await call.catch((caught: unknown) => caught);
    expect(error).toMatchObject({ name: "AbortError", message: base + MAY_STILL_RUN });
    expect((error as DOMException & { cause: unknown }).cause).toBe(controller.signal.reason);
  });

  it("reports its late result once, with the times of the call", async () => {
    const { sandbox, controller, ended, settlements } = hanging();
    const call = sandbox.exec("x", { signal: controller.signal });
    controller.abort();
    await expect(call).rejects.toThrow();
    ended.resolve(DONE);
    await settleMicrotasks();
    expect(settlements).toHaveLength(1);
    expect(settlements[0]).toMatchObject({ command: "x", result: DONE });
    expect(settlements[0]).not.toHaveProperty("error");
    expect(settlements[0]?.abortedAt.getTime()).toBeLessThanOrEqual(settlements[0]?.settledAt.getTime() ?? 0);
    expect(settlements[0]?.startedAt).toBeInstanceOf(Date);
  });

  it("reports its late failure, which is no unhandled rejection", async () => {
    const { sandbox, controller, ended, settlements } = hanging();
    const call = sandbox.exec("x", { signal: controller.signal });
    controller.abort();
    await expect(call).rejects.toThrow();
    const lost = new Error("lost");
    ended.reject(lost);
    await settleMicrotasks();
    expect(settlements).toMatchObject([{ error: lost }]);
  });

  it("swallows what its observer throws", async () => {
    const ended = Promise.withResolvers<ExecResult>();
    const seen = vi.fn(() => {
      throw new Error("observer");
    });
    const sandbox = sandboxFromDriver(driverOf({ exec: () => ended.promise }), "/w", { onOrphanSettled: seen });
    const controller = new AbortController();
    const call = sandbox.exec("x", { signal: controller.signal });
    controller.abort();
    await expect(call).rejects.toThrow();
    ended.resolve(DONE);
    await settleMicrotasks();
    expect(seen).toHaveBeenCalledOnce();
  });

  it("that had ended in the same tick rejects without the suffix and is no orphan", async () => {
    const { sandbox, controller, ended, settlements } = hanging();
    const call = sandbox.exec("x", { signal: controller.signal });
    ended.resolve(DONE);
    controller.abort(new Error("User stopped."));
    await expect(call).rejects.toMatchObject({ message: "User stopped." });
    await settleMicrotasks();
    expect(settlements).toEqual([]);
  });

  it("that ended before the abort keeps its result", async () => {
    const { sandbox, controller, ended, settlements } = hanging();
    const call = sandbox.exec("x", { signal: controller.signal });
    ended.resolve(DONE);
    expect(await call).toBe(DONE);
    controller.abort();
    await settleMicrotasks();
    expect(settlements).toEqual([]);
  });

  it("turns a synchronous throw of the driver into a rejection", async () => {
    const exec = () => {
      throw new Error("sync");
    };
    const sandbox = sandboxFromDriver(driverOf({ exec }), "/w");
    await expect(sandbox.exec("x", { signal: new AbortController().signal })).rejects.toThrow("sync");
  });
});

describe("createCwdSandbox", () => {
  it("resolves against its own folder and passes absolute paths on", async () => {
    const exec = vi.fn(async (_command: string, _options: DriverExecOptions) => DONE);
    const scoped = createCwdSandbox(sandboxFromDriver(driverOf({ exec }), "/w"), "/w//sub/../deep");
    expect(scoped.cwd).toBe("/w/deep");
    expect(await scoped.readFile("a")).toBe("/w/deep/a");
    expect(await scoped.readFile("/etc/a")).toBe("/etc/a");
    await scoped.exec("x", { key: "k" });
    await scoped.exec("x", { cwd: ".." });
    expect(exec.mock.calls.map(([, options]) => [options.cwd, options.key])).toEqual([
      ["/w/deep", "k"],
      ["/w", undefined],
    ]);
  });

  it("drops members outside the interface and shares the identity of its parent", () => {
    const parent = Object.assign(sandboxFromDriver(driverOf(), "/w"), { provider: "x" });
    const nested = createCwdSandbox(createCwdSandbox(parent, "/a"), "/b");
    expect(Object.keys(nested)).toEqual(ELEVEN);
    expect(sandboxIdentity(nested)).toBe(parent);
  });

  it("has no shell where its parent has none", () => {
    const { exec: _exec, ...files } = sandboxFromDriver(driverOf(), "/w");
    expect(createCwdSandbox(files as Sandbox, "/a").exec).toBeUndefined();
  });
});
