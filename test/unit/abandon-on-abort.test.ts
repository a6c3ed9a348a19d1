import { describe, expect, it, vi } from "vitest";
import { abandonToolOnAbort } from "../../durable-objects/tools/abandon-on-abort.ts";
import type { DurableTool } from "../../durable-objects/tools/define-tool.ts";
import { createReadTool } from "../../durable-objects/tools/read.ts";
import { scriptedSandbox } from "../contract/drivers/scripted.ts";

type Result = Awaited<ReturnType<DurableTool["execute"]>>;

const RESULT: Result = { content: [{ type: "text", text: "done" }], details: {} };

function wrapped(execute: () => Promise<Result>) {
  const run = vi.fn(execute);
  const tool = abandonToolOnAbort({ ...createReadTool(scriptedSandbox({}).sandbox), execute: run });
  return { tool, run, controller: new AbortController() };
}

describe("abandonToolOnAbort", () => {
  it("passes a result through, and everything else of the tool", async () => {
    const { tool, controller } = wrapped(async () => RESULT);
    expect(await tool.execute("c", {}, controller.signal)).toBe(RESULT);
    expect([tool.name, tool.replayPolicy]).toEqual(["read", "rerun"]);
  });

  it("never starts a call that was aborted before", async () => {
    const { tool, run } = wrapped(async () => RESULT);
    const call = tool.execute("c", {}, AbortSignal.abort(new Error("Stopped.")));
    await expect(call).rejects.toMatchObject({ name: "AbortError", message: "Stopped." });
    expect(run).not.toHaveBeenCalled();
  });

  it("releases the caller of a tool that hangs, with the spec's sentence where the abort has no reason", async () => {
    const { tool, controller } = wrapped(() => new Promise(() => {}));
    const call = tool.execute("c", {}, controller.signal);
    controller.abort();
    await expect(call).rejects.toMatchObject({
      name: "AbortError",
      message:
        "The operation was aborted. The tool execution could not be confirmed cancelled and may still be running.",
    });
  });

  it("lets a tool that rejects in answer to the abort speak for itself", async () => {
    const ended = Promise.withResolvers<Result>();
    const { tool, controller } = wrapped(() => ended.promise);
    const call = tool.execute("c", {}, controller.signal);
    controller.signal.addEventListener("abort", () => ended.reject(new Error("inner")));
    controller.abort();
    await expect(call).rejects.toThrow("inner");
  });

  it("reports no success that came with the abort", async () => {
    const ended = Promise.withResolvers<Result>();
    const { tool, controller } = wrapped(() => ended.promise);
    const call = tool.execute("c", {}, controller.signal);
    ended.resolve(RESULT);
    controller.abort(new Error("Stopped."));
    await expect(call).rejects.toMatchObject({ name: "AbortError", message: "Stopped." });
  });

  it("consumes a failure that comes after the caller has gone", async () => {
    const ended = Promise.withResolvers<Result>();
    const unhandled = vi.fn();
    process.on("unhandledRejection", unhandled);
    const { tool, controller } = wrapped(() => ended.promise);
    const call = tool.execute("c", {}, controller.signal);
    controller.abort();
    await expect(call).rejects.toThrow();
    ended.reject(new Error("late"));
    await new Promise((resolve) => setTimeout(resolve, 10));
    process.off("unhandledRejection", unhandled);
    expect(unhandled).not.toHaveBeenCalled();
  });
});
