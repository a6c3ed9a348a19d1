import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { ExecOptions, ExecResult } from "../../containers/sandbox.ts";
import { createBashTool, formatBashResult } from "../../durable-objects/tools/bash.ts";
import { type ScriptedAnswer, scriptedSandbox } from "../contract/drivers/scripted.ts";

const result = (stdout: string, exitCode = 0, stderr = ""): ExecResult => ({ stdout, stderr, exitCode });
const TIMED_OUT = "[flue] Command timed out after 2 seconds.\n\nCommand exited with code 124";

function bash(answer: ScriptedAnswer) {
  const { sandbox, log } = scriptedSandbox({ exec: [answer] });
  const tool = createBashTool(sandbox);
  async function call(params: unknown, signal?: AbortSignal): Promise<string> {
    const { content } = await tool.execute("call-7", params, signal);
    const [part] = content;
    return part?.type === "text" ? part.text : "";
  }
  return { call, options: () => log[0]?.args[1] as ExecOptions, log };
}

/** The outcome of a call, with time moved on far enough for it to end. */
async function outcome(running: Promise<string>): Promise<string> {
  const settled = running.catch((error: Error) => `threw ${error.message}`);
  await vi.advanceTimersByTimeAsync(60_000);
  return settled;
}

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  expect(vi.getTimerCount()).toBe(0);
  vi.useRealTimers();
});

describe("the bash tool", () => {
  it("names its command by the call, so that a crash finds it again", async () => {
    const { call, options } = bash({ result: result("x") });
    expect(await call({ command: "c" })).toBe("x");
    expect(options()).toEqual({
      cwd: "/workspace",
      env: undefined,
      timeoutMs: undefined,
      signal: undefined,
      key: "call-7",
    });
  });

  it("cannot be reattached where the sandbox cannot find a command by its key", () => {
    const { sandbox } = scriptedSandbox({});
    expect(createBashTool(sandbox).replayPolicy).toBe("reattach");
    expect(createBashTool({ ...sandbox, keyedExec: false }).replayPolicy).toBe("unknown");
  });

  it.each([
    [1.001, 1001],
    [0.0005, 1],
    [2, 2000],
    [5_000_000, 2 ** 31 - 1],
    [Number.POSITIVE_INFINITY, 2 ** 31 - 1],
  ])("rounds a timeout of %s s up to %s ms that a timer can hold", async (timeout, timeoutMs) => {
    const { call, options } = bash({ result: result("x") });
    expect(await call({ command: "c", timeout })).toBe("x");
    expect(options().timeoutMs).toBe(timeoutMs);
  });

  it.each([0, -1, Number.NaN])("refuses a timeout of %s without running anything", async (timeout) => {
    const { call, log } = bash({ result: result("x") });
    await expect(call({ command: "c", timeout })).rejects.toThrow("timeout must be a positive number of seconds.");
    expect(log).toEqual([]);
  });
});

describe("a command that ran into its timeout", () => {
  it("keeps the output so far in front of the notice", async () => {
    const { call } = bash({ delayMs: 2000, result: result("one\ntwo\n", 124, "warn") });
    expect(await outcome(call({ command: "c", timeout: 2 }))).toBe(`one\ntwo\n\nwarn\n\n${TIMED_OUT}`);
  });

  it("cuts that output before the notice is added, and tells the cut", async () => {
    const { call } = bash({ delayMs: 2000, result: result("x".repeat(60_000), 124) });
    const text = await outcome(call({ command: "c", timeout: 2 }));
    expect(text).toBe(`[Showing the last 51200 of 60000 characters.]\n\n${"x".repeat(51_200)}\n\n${TIMED_OUT}`);
  });

  it("has only the notice where there was no output", async () => {
    const { call } = bash({ delayMs: 2000, result: result(" \n", 124) });
    expect(await outcome(call({ command: "c", timeout: 2 }))).toBe(TIMED_OUT);
  });

  it("drops an answer with another exit code, which tells nothing of the command", async () => {
    const { call } = bash({ delayMs: 2500, result: result("late", 0) });
    expect(await outcome(call({ command: "c", timeout: 2 }))).toBe(TIMED_OUT);
  });

  it("drops what comes after the signal, even a 124", async () => {
    const { sandbox } = scriptedSandbox({ exec: [{ delayMs: 8000, result: result("late", 124) }] });
    // Without the wrapper's race the answer itself arrives.
    const deaf = { ...sandbox, exec: (command: string) => sandbox.exec(command) };
    const running = createBashTool(deaf).execute("c", { command: "c", timeout: 2 });
    await vi.advanceTimersByTimeAsync(10_000);
    expect((await running).content).toEqual([{ type: "text", text: TIMED_OUT }]);
  });

  it("is given up 5 s after the timeout where the driver never answers", async () => {
    const { call } = bash({ hang: true });
    let ended = false;
    const running = call({ command: "c", timeout: 2 }).finally(() => {
      ended = true;
    });
    await vi.advanceTimersByTimeAsync(6_999);
    expect(ended).toBe(false);
    await vi.advanceTimersByTimeAsync(2);
    expect(await running).toBe(TIMED_OUT);
  });

  it("reads as a timeout where the driver rejects at its deadline", async () => {
    const { call } = bash({ delayMs: 2100, error: "deadline exceeded" });
    expect(await outcome(call({ command: "c", timeout: 2 }))).toBe(TIMED_OUT);
  });
});

describe("a command that did not", () => {
  it("keeps a 124 of its own", async () => {
    const { call } = bash({ delayMs: 50, result: result("mine", 124) });
    expect(await outcome(call({ command: "c", timeout: 2 }))).toBe("mine\n\nCommand exited with code 124");
  });

  it("passes a failure of the transport on", async () => {
    const { call } = bash({ delayMs: 50, error: "transport lost" });
    expect(await outcome(call({ command: "c", timeout: 2 }))).toBe("threw transport lost");
  });

  it("reads as aborted when the caller aborts, also after the timeout", async () => {
    const { call } = bash({ hang: true });
    const controller = new AbortController();
    const running = outcome(call({ command: "c", timeout: 2 }, controller.signal));
    setTimeout(() => controller.abort(new Error("User stopped.")), 3000);
    await vi.advanceTimersByTimeAsync(3000);
    expect(await running).toMatch(/^threw User stopped\. The sandbox command/);
  });
});

describe("formatBashResult", () => {
  it("adds the exit line behind the cut", () => {
    const { text, details } = formatBashResult(result("1\n".repeat(2001), 3), "c");
    expect(text).toBe(`[Showing the last 2000 of 2001 lines.]\n\n${"1\n".repeat(1999)}1\n\nCommand exited with code 3`);
    expect(details).toEqual({ command: "c", exitCode: 3 });
  });

  it("keeps the indentation of the first line of either stream", () => {
    expect(formatBashResult(result("", 0, "  err"), "c").text).toBe("  err");
    expect(formatBashResult(result("\n\n  out\n", 0), "c").text).toBe("  out");
  });
});
