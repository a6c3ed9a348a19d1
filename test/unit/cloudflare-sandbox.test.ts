/** The guard round the SDK's calls, in virtual time. Source: contract TOOLS 13.3. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { guardCalls } from "../../containers/drivers/cloudflare-sandbox/guarded-calls.ts";
import type { SandboxStub } from "../../containers/drivers/cloudflare-sandbox/stub.ts";
import { cloudflareSandbox } from "../../containers/drivers/cloudflare-sandbox.ts";
import { IMAGE_USER } from "../../containers/sandbox-user.ts";
import { SANDBOX_CALL_DEADLINE_MS } from "../../durable-objects/protocol/limits.ts";
import { sdkError } from "../contract/sandbox-sdk-double.ts";
import { type VirtualTime, virtualTime } from "./fixtures/virtual-time.ts";

const never = () => new Promise<never>(() => {});
const STOPPED = "Sandbox readFile failed: the sandbox stopped while the call was in flight.";
const SILENT =
  "Sandbox readFile failed: the sandbox state probe went unanswered while the call was in flight, so the sandbox is presumed dead.";

function stubOf(overrides: Partial<SandboxStub> = {}): SandboxStub {
  return {
    exec: async () => ({ success: true, exitCode: 0, stdout: "", stderr: "" }),
    readFile: async () => ({ content: "" }),
    writeFile: async () => ({}),
    exists: async () => ({ exists: true }),
    getState: async () => ({ status: "healthy" }),
    ...overrides,
  };
}

/** A guarded `readFile` that is never answered, and the times at which its state was asked for. */
function hang(getState: SandboxStub["getState"], time: VirtualTime, signal?: AbortSignal) {
  const probes: number[] = [];
  const stub = stubOf({
    getState: () => {
      probes.push(time.now());
      return getState();
    },
  });
  const call = guardCalls(stub, time.timers);
  const settled = vi.fn();
  call("readFile", never, { signal }).then(settled, (error: Error) => settled(error.message));
  return { probes, settled };
}

describe("the death detector", () => {
  it("asks for the state 5 s into a call and 5 s after each answer, as long as the container lives", async () => {
    const time = virtualTime();
    const { probes, settled } = hang(async () => ({ status: "healthy" }), time);
    await time.advance(21_000);
    expect(probes).toEqual([5_000, 10_000, 15_000, 20_000]);
    expect(settled).not.toHaveBeenCalled();
  });

  it.each(["stopped", "stopped_with_code"])("ends the call of a container that is %s", async (status) => {
    const time = virtualTime();
    const { settled } = hang(async () => ({ status }), time);
    await time.advance(4_999);
    expect(settled).not.toHaveBeenCalled();
    await time.advance(1);
    expect(settled).toHaveBeenCalledWith(STOPPED);
  });

  it("presumes a container dead that leaves a probe unanswered for 10 s", async () => {
    const time = virtualTime();
    const { settled } = hang(never, time);
    await time.advance(14_999);
    expect(settled).not.toHaveBeenCalled();
    await time.advance(1);
    expect(settled).toHaveBeenCalledWith(SILENT);
  });

  it("takes a probe that fails for a sign of life", async () => {
    const time = virtualTime();
    const { settled, probes } = hang(async () => Promise.reject(new Error("busy")), time);
    await time.advance(30_000);
    expect(settled).not.toHaveBeenCalled();
    expect(probes).toHaveLength(6);
  });

  it("stops with its caller, so that an aborted call is never asked about again", async () => {
    const time = virtualTime();
    const abort = new AbortController();
    const { settled, probes } = hang(async () => ({ status: "healthy" }), time, abort.signal);
    await time.advance(6_000);
    abort.abort();
    await time.advance(60_000);
    expect(settled).toHaveBeenCalledWith("The operation was aborted.");
    expect(probes).toEqual([5_000]);
    expect(time.pending()).toBe(0);
  });
});

describe("a guarded call", () => {
  it("leaves no timer behind once it was answered", async () => {
    const time = virtualTime();
    await guardCalls(stubOf(), time.timers)("exists", (stub) => stub.exists("/x"));
    expect(time.pending()).toBe(0);
  });

  it("ends at a deadline of its own when the container lives and does not answer", async () => {
    const time = virtualTime();
    const { settled } = hang(async () => ({ status: "healthy" }), time);
    await time.advance(SANDBOX_CALL_DEADLINE_MS);
    expect(settled).toHaveBeenCalledWith(
      `Sandbox readFile failed: no answer within ${SANDBOX_CALL_DEADLINE_MS / 1000} seconds.`,
    );
    expect(time.pending()).toBe(0);
  });

  it("is made once more, and only once, where the container was only starting", async () => {
    const time = virtualTime();
    const starting = () =>
      Promise.reject(
        sdkError("ContainerUnavailableError", "CONTAINER_UNAVAILABLE", "Container is starting", 503, {
          retryAfterMs: 3_000,
        }),
      );
    const work = vi.fn<() => Promise<string>>().mockImplementationOnce(starting).mockResolvedValue("text");
    const answered = guardCalls(stubOf(), time.timers)("readFile", work);
    await time.advance(2_999);
    expect(work).toHaveBeenCalledTimes(1);
    await time.advance(1);
    expect(await answered).toBe("text");

    const failing = vi.fn(starting);
    const failed = expect(guardCalls(stubOf(), time.timers)("readFile", failing)).rejects.toThrow("is starting");
    await time.advance(60_000);
    await failed;
    expect(failing).toHaveBeenCalledTimes(2);
  });

  it.each([
    [sdkError("OperationInterruptedError", "OPERATION_INTERRUPTED", "runtime replaced", 409)],
    [sdkError("RPCTransportError", "RPC_TRANSPORT_ERROR", "peer closed", 503)],
    [new Error("Network connection lost.")],
  ])("tells %s as the death of the sandbox and is not made again", async (error) => {
    const work = vi.fn(() => Promise.reject(error));
    const failed = guardCalls(stubOf(), virtualTime().timers)("readFile", work);
    await expect(failed).rejects.toMatchObject({
      message: STOPPED,
      type: "sandbox_died",
      meta: { operation: "readFile", reason: "stopped" },
    });
    expect(work).toHaveBeenCalledTimes(1);
  });

  it("sends a harmless call ahead of the next one after a death, which often fails too", async () => {
    const exec = vi.fn(async () => Promise.reject(new Error("Network connection lost.")));
    const call = guardCalls(stubOf({ exec }), virtualTime().timers);
    await call("readFile", () => Promise.reject(new Error("Network connection lost."))).catch(() => {});
    expect(await call("readFile", async () => "text")).toBe("text");
    expect(exec).toHaveBeenCalledTimes(1);
    expect(await call("readFile", async () => "text")).toBe("text");
    expect(exec).toHaveBeenCalledTimes(1);
  });

  it("keeps the words of any other failure, with Node's code where the SDK's has one", async () => {
    const missing = sdkError("FileNotFoundError", "FILE_NOT_FOUND", "File not found: /x", 404);
    const call = guardCalls(stubOf(), virtualTime().timers);
    await expect(call("readFile", () => Promise.reject(missing))).rejects.toMatchObject({
      message: "File not found: /x",
      code: "ENOENT",
    });
  });

  it.each([
    ["Containers have not been enabled for this Durable Object class.", /without containers.*SANDBOX=virtual/],
    ["no such image available named cloudflare-dev/sandbox", /image.*sandbox\.Dockerfile.*SANDBOX=virtual/],
  ])("says what to do where %s", async (text, told) => {
    const call = guardCalls(stubOf(), virtualTime().timers);
    await expect(call("exec", () => Promise.reject(new Error(text)))).rejects.toThrow(told);
  });
});

describe("cloudflareSandbox()", () => {
  it("names the missing binding and what to do about it", async () => {
    const opening = cloudflareSandbox().createSandbox({ id: "c" });
    await expect(opening).rejects.toThrow(/binding "Sandbox".*wrangler\.toml.*SANDBOX=virtual/);
  });

  it("says that the image lacks berth-exec", async () => {
    const exec = async () => ({ exitCode: 127, stdout: "", stderr: "berth-exec: No such file or directory" });
    const sandbox = await cloudflareSandbox(stubOf({ exec })).createSandbox({ id: "c" });
    await expect(sandbox.exec("ls")).rejects.toThrow(/no berth-exec.*sandbox\.Dockerfile/);
  });

  it.each(["Dockerfile", "sandbox.Dockerfile"])("runs as a user that %s creates", (file) => {
    const { name, home } = IMAGE_USER;
    const text = readFileSync(join(import.meta.dirname, "../../containers/image", file), "utf8");
    expect(text).toMatch(new RegExp(`useradd .*--home-dir ${home} .* ${name} `));
    expect(text).toContain(`install -d -o ${name} -g ${name} ${home} `);
  });

  it("works in /workspace unless told otherwise", async () => {
    expect((await cloudflareSandbox(stubOf()).createSandbox({ id: "c" })).cwd).toBe("/workspace");
    expect((await cloudflareSandbox(stubOf(), { cwd: "/srv" }).createSandbox({ id: "c" })).cwd).toBe("/srv");
  });

  it.each([
    ["directory", "4096/0/directory", "EISDIR: illegal operation on a directory, read '/workspace/x'"],
    ["pipe", "0/0/fifo", "/workspace/x is not a regular file: it is a fifo."],
    ["device", "0/0/character special file", "/workspace/x is not a regular file: it is a character special file."],
    ["file too large", "99999999999/0/regular file", /EFBIG: file too large, '\/workspace\/x' has 99999999999 bytes/],
  ])("refuses to read a %s by name and kind, and leaves no reader behind", async (_kind, stdout, told) => {
    const readFile = vi.fn(never);
    const sandbox = await cloudflareSandbox(
      stubOf({ exec: async () => ({ success: true, exitCode: 0, stdout, stderr: "" }), readFile }),
    ).createSandbox({ id: "c" });
    await expect(sandbox.readFile("x")).rejects.toThrow(told);
    expect(readFile).not.toHaveBeenCalled();
  });
});
