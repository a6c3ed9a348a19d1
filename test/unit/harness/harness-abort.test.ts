/** What ends a harness's work, and how its thread is left. Source: contract RUNTIME 2.7, 2.8, 4, 7, 9; TOOLS 10. */
import { describe, expect, it, vi } from "vitest";
import { defineTool, type Harness } from "../../../durable-objects/agent/index.ts";
import { standingOf } from "../../../durable-objects/conversation/recovery/standing.ts";
import { PROVIDER_RETRIES } from "../../../durable-objects/protocol/limits.ts";
import { isRecordOf, ROOT_THREAD } from "../../../durable-objects/protocol/records.ts";
import { halfwayAt } from "../fixtures/halfway.ts";
import { ASK, faultOf, harnessed, resultOf, THREAD, textsOf } from "../fixtures/harnessed.ts";
import type { TestConversation } from "../fixtures/scripted-conversation.ts";
import { virtualTime } from "../fixtures/virtual-time.ts";

const never = new Promise<void>(() => {});
const HANG = defineTool({ name: "hang", description: "Never ends.", run: () => never.then(() => "") });
const CALL_HANG = { id: "call_hang", name: "hang", arguments: {} };

/** No half step and no call without a result is left in any thread. */
function expectWellFormed(conversation: TestConversation): void {
  for (const thread of conversation.threads()) {
    const standing = standingOf(conversation.records(thread));
    expect(standing.openCalls, thread).toEqual([]);
    expect(standing.partial, thread).toBeUndefined();
  }
}

describe("an abort of a prompt", () => {
  it("by its handle rejects with an AbortError whose cause is the reason, and the next prompt goes on", async () => {
    const conversation = harnessed(
      async (harness) => {
        const call = harness.prompt("slow");
        call.abort(new Error("too slow"));
        const error: unknown = await call.catch((reason) => reason);
        if (!(error instanceof DOMException)) return "no AbortError";
        return [error.name, error.message, call.signal.aborted, (await harness.prompt("fast")).text];
      },
      [{ text: "never", gate: never }, { text: "quick" }],
    );
    await conversation.send("go");
    expect(JSON.parse(resultOf(conversation).text)).toEqual(["AbortError", "too slow", true, "quick"]);
    expectWellFormed(conversation);
  });

  it("keeps the next operation waiting until its thread is closed, and turns no caller away meanwhile", async () => {
    const conversation = harnessed(
      async (harness) => {
        const controller = new AbortController();
        const call = harness.prompt("x", { tools: [HANG], signal: controller.signal });
        setTimeout(() => controller.abort(), 20);
        await faultOf(call);
        const given = harness.prompt("given up too");
        given.abort();
        const next = harness.prompt("next");
        return [await faultOf(given), await faultOf(harness.prompt("beside")), (await next).text];
      },
      [{ calls: [CALL_HANG] }, { text: "free" }],
    );
    await conversation.send("go");
    expect(JSON.parse(resultOf(conversation).text)).toMatchObject([
      { name: "AbortError" },
      { type: "session_busy" },
      "free",
    ]);
    expectWellFormed(conversation);
  });

  it("leaves the half answer where it stood, for the next prompt to go on from", async () => {
    let shown: string[] = [];
    const conversation = harnessed(
      async (harness) => {
        const call = harness.prompt("long");
        await vi.waitFor(() => expect(conversation.records(THREAD)).toHaveLength(2), { interval: 2 });
        call.abort();
        await faultOf(call);
        return (await harness.prompt("again")).text;
      },
      [
        (messages) => {
          shown = textsOf(messages.slice(1));
          return { text: "whole" };
        },
      ],
      { wrapModel: halfwayAt(2) },
    );
    await conversation.send("go");
    expect(resultOf(conversation)).toEqual({ text: '"whole"', isError: false });
    expect(shown).toEqual(["user: long", expect.stringMatching(/^assistant: half of it/), "user: again"]);
    expectWellFormed(conversation);
  });

  it("reaches a harness within its conversation", async () => {
    const deepest = Promise.withResolvers<unknown>();
    const asked = Promise.withResolvers<void>();
    const hang = () => {
      asked.resolve();
      return { text: "never", gate: never };
    };
    const conversation = harnessed(
      async (harness) => {
        if (conversation.threads().length > 1) {
          const inner = harness.prompt("inner");
          deepest.resolve(inner.catch((error: unknown) => error));
          return (await inner).text;
        }
        const outer = harness.prompt("outer");
        await asked.promise;
        outer.abort();
        return faultOf(outer);
      },
      [{ calls: [{ ...ASK, id: "call_2" }] }, hang],
    );
    await conversation.send("go");
    expect(await deepest.promise).toMatchObject({ name: "AbortError" });
    expect(resultOf(conversation).isError).toBe(false);
  });

  it("by its signal reaches the tools it runs, whose calls have results afterwards", async () => {
    const conversation = harnessed(
      async (harness) => {
        const controller = new AbortController();
        const call = harness.prompt("x", { tools: [HANG], signal: controller.signal });
        setTimeout(() => controller.abort(), 20);
        return faultOf(call);
      },
      [{ calls: [CALL_HANG] }],
    );
    const { settlement } = await conversation.send("go");
    expect(settlement.outcome).toBe("completed");
    expect(JSON.parse(resultOf(conversation).text)).toMatchObject({ name: "AbortError" });
    expect(resultOf(conversation, CALL_HANG.id, THREAD).isError).toBe(true);
    expectWellFormed(conversation);
  });

  it("before it starts asks nobody", async () => {
    const conversation = harnessed((harness) => faultOf(harness.prompt("x", { signal: AbortSignal.abort() })), []);
    await conversation.send("go");
    expect(JSON.parse(resultOf(conversation).text)).toMatchObject({ name: "AbortError" });
    expect(conversation.threads()).toEqual([ROOT_THREAD]);
  });

  it("of the submission ends everything below, though nothing below listens", async () => {
    const reached = Promise.withResolvers<void>();
    const wait = defineTool({
      ...{ name: "hang", description: "Never ends." },
      run() {
        reached.resolve();
        return never.then(() => "");
      },
    });
    const conversation = harnessed((harness) => harness.prompt("x", { tools: [wait] }), [{ calls: [CALL_HANG] }]);
    const id = conversation.post("go");
    await reached.promise;
    conversation.engine.abort();
    const answer = await conversation.engine.waitSettled(id, 2000);
    expect(answer?.settlement.outcome).toBe("aborted");
    expect(resultOf(conversation).isError).toBe(true);
    expect(resultOf(conversation, CALL_HANG.id, THREAD).isError).toBe(true);
    expectWellFormed(conversation);
  });
});

describe("a provider's fault in a scratch conversation", () => {
  const BROKEN = { stopReason: "error", errorMessage: "connection reset" } as const;

  it("that is transient is tried again in place, after a wait", async () => {
    const time = virtualTime();
    const conversation = harnessed((harness) => harness.prompt("x"), [BROKEN, BROKEN, { text: "at last" }], {
      timers: time.timers,
    });
    const id = conversation.post("go");
    await time.advance(20_000);
    expect(conversation.engine.readSubmission(id)).toMatchObject({ outcome: "completed", attempts: 1 });
    expect(JSON.parse(resultOf(conversation).text).text).toBe("at last");
  });

  it("that does not pass rejects with the provider's code after the last try", async () => {
    const time = virtualTime();
    const turns = Array.from({ length: PROVIDER_RETRIES + 1 }, () => BROKEN);
    const conversation = harnessed((harness) => faultOf(harness.prompt("x")), turns, { timers: time.timers });
    conversation.post("go");
    await time.advance(300_000);
    expect(JSON.parse(resultOf(conversation).text)).toMatchObject({ type: "provider_failed" });
  });

  it("that is permanent rejects at once", async () => {
    const conversation = harnessed(
      (harness) => faultOf(harness.prompt("x")),
      [{ stopReason: "error", errorMessage: "invalid_request_error: no" }],
    );
    await conversation.send("go");
    expect(JSON.parse(resultOf(conversation).text)).toMatchObject({ type: "provider_failed" });
  });

  it("is counted anew after every completed step", async () => {
    const time = virtualTime();
    const broken = [BROKEN, BROKEN, BROKEN];
    const step = { calls: [{ id: "call_step", name: "none", arguments: {} }] };
    const script = [...broken, step, ...broken, { text: "at last" }];
    expect(script.filter((turn) => turn === BROKEN).length).toBeGreaterThan(PROVIDER_RETRIES);
    const conversation = harnessed((harness) => harness.prompt("x"), script, { timers: time.timers });
    conversation.post("go");
    await time.advance(120_000);
    expect(JSON.parse(resultOf(conversation).text).text).toBe("at last");
  });

  it("is not waited for once the prompt is aborted", async () => {
    const time = virtualTime();
    const conversation = harnessed(
      async (harness) => {
        const call = harness.prompt("x");
        time.timers.after(100, () => call.abort());
        return [await faultOf(call), (await harness.prompt("y")).text];
      },
      [BROKEN, { text: "free again" }],
      { timers: time.timers },
    );
    conversation.post("go");
    await time.advance(500);
    expect(JSON.parse(resultOf(conversation).text)).toMatchObject([{ name: "AbortError" }, "free again"]);
  });

  it("names the model that is not there", async () => {
    const conversation = harnessed((harness) => faultOf(harness.prompt("x", { model: "scripted/nope" })), []);
    await conversation.send("go");
    expect(JSON.parse(resultOf(conversation).text)).toMatchObject({ type: "model_not_configured" });
    expect(conversation.threads()).toEqual([ROOT_THREAD]);
  });
});

describe("depth", () => {
  it("allows four levels of harnesses and refuses the fifth, by the caller's level", async () => {
    const depths: string[] = [];
    const level = (n: number) => [{ calls: [{ ...ASK, id: `call_${n}` }] }];
    const conversation = harnessed(async (harness: Harness) => {
      depths.push(harness.name);
      return (await harness.prompt("deeper")).text;
    }, [level(2), level(3), level(4), level(5), [{ text: "5" }, { text: "4" }, { text: "3" }, { text: "2" }]].flat());
    await conversation.send("go");
    expect(depths).toHaveLength(4);
    const refusal = conversation
      .records("harness/call_4/1")
      .flatMap((record) => (isRecordOf(record, "tool_result") ? [record.body] : []));
    expect(refusal).toMatchObject([
      { toolCallId: "call_5", isError: true, text: "Maximum delegation depth (4) exceeded." },
    ]);
    expect(resultOf(conversation)).toEqual({ isError: false, text: '"2"' });
  });
});
