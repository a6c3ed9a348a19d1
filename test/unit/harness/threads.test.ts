/** Threads beside the root: what its readers see of them, and what a crash leaves. Source: contract RUNTIME 1.7, 1.8, 2.5, 7. */
import { describe, expect, it, vi } from "vitest";
import { useTool } from "../../../durable-objects/agent/index.ts";
import { standingOf } from "../../../durable-objects/conversation/recovery/standing.ts";
import { INTERRUPTED_RESULT } from "../../../durable-objects/protocol/interrupted.ts";
import { LONG_POLL_MS, SETTLE_GRACE_MS, SSE_HEARTBEAT_MS } from "../../../durable-objects/protocol/limits.ts";
import { parseOffset } from "../../../durable-objects/protocol/offset.ts";
import { isRecordOf, ROOT_THREAD } from "../../../durable-objects/protocol/records.ts";
import { halfwayAt } from "../fixtures/halfway.ts";
import { ASK, faultOf, harnessed, resultOf, THREAD } from "../fixtures/harnessed.ts";
import { createConversation, type TestConversation } from "../fixtures/scripted-conversation.ts";
import { virtualTime } from "../fixtures/virtual-time.ts";

/** A conversation that has reached its tool, which waits for `go` before it prompts and for `end` before it returns. */
async function pausedBeforeThread(timers?: Parameters<typeof harnessed>[2]) {
  const reached = Promise.withResolvers<void>();
  const go = Promise.withResolvers<void>();
  const end = Promise.withResolvers<void>();
  const conversation = harnessed(
    async (harness) => {
      reached.resolve();
      await go.promise;
      await harness.prompt("quiet");
      await end.promise;
    },
    [{ text: "words" }],
    timers,
  );
  const id = conversation.post("go");
  await reached.promise;
  const write = async () => {
    go.resolve();
    await vi.waitFor(() => expect(conversation.records(THREAD)).toHaveLength(2), { interval: 2 });
  };
  return { conversation, id, write, end: () => end.resolve() };
}

describe("a reader of the root", () => {
  it("is at the head, whatever a thread has recorded since", async () => {
    const { conversation, id, write, end } = await pausedBeforeThread();
    const { stream } = conversation.engine;
    const { offset } = stream.readHead();
    await write();
    expect(stream.readHead().offset).toBe(offset);
    expect(stream.readHistory().offset).toBe(offset);
    const answer = await stream.readUpdates({ after: parseOffset(offset) ?? 0, live: "none" });
    expect(answer).toMatchObject({ offset, upToDate: true });
    const receipt = conversation.engine.admit({
      ...{ agent: "tester", id: "c1" },
      message: { kind: "user", body: "more" },
    });
    expect(receipt.offset).toBe(offset);
    end();
    expect((await conversation.engine.waitSettled(id, 5000))?.settlement.outcome).toBe("completed");
  });

  it("that waits in a long poll is not woken by a thread", async () => {
    const time = virtualTime();
    const { conversation, write, end } = await pausedBeforeThread({ timers: time.timers });
    const { stream } = conversation.engine;
    const { offset } = stream.readHead();
    let answered = false;
    const poll = stream.readUpdates({ after: parseOffset(offset) ?? 0, live: "long-poll" }).finally(() => {
      answered = true;
    });
    await write();
    await time.advance(LONG_POLL_MS - 1);
    expect(answered).toBe(false);
    await time.advance(1);
    expect(await poll).toMatchObject({ offset, upToDate: true });
    end();
  });

  it("that follows by SSE has its heartbeat on time, however busy a thread is", async () => {
    const time = virtualTime();
    const { conversation, write, end } = await pausedBeforeThread({ timers: time.timers });
    const { stream } = conversation.engine;
    const { offset } = stream.readHead();
    const answer = await stream.readUpdates({ after: parseOffset(offset) ?? 0, live: "sse" });
    const reader = (answer.body as ReadableStream<Uint8Array>).getReader();
    const frame = async () => new TextDecoder().decode((await reader.read()).value);
    expect(await frame()).toContain(`"upToDate":true`);
    const next = frame();
    await time.advance(SSE_HEARTBEAT_MS - 1000);
    await write();
    await time.advance(1000);
    expect(await next).toBe(
      `: heartbeat\n\nevent: control\nid: ${offset}\ndata:{"streamNextOffset":"${offset}","upToDate":true}\n\n`,
    );
    await reader.cancel();
    end();
  });
});

function expectClosed(conversation: TestConversation, thread: string): void {
  const standing = standingOf(conversation.records(thread));
  expect(standing.partial).toBeUndefined();
  expect(standing.openCalls).toEqual([]);
}

describe("a provider that hears no abort", () => {
  it("keeps nobody waiting, keeps its conversation busy, and its half step is closed by the settlement", async () => {
    const time = virtualTime();
    const conversation = harnessed(
      async (harness) => {
        const call = harness.prompt("x");
        await vi.waitFor(() => expect(conversation.records(THREAD)).toHaveLength(2), { interval: 2 });
        call.abort();
        return [await faultOf(call), await faultOf(harness.prompt("y"))];
      },
      [],
      { wrapModel: halfwayAt(2, { hears: false }), timers: time.timers },
    );
    const id = conversation.post("go");
    await vi.waitFor(async () => {
      await time.advance(SETTLE_GRACE_MS);
      expect(conversation.engine.readSubmission(id)).toMatchObject({ outcome: "completed" });
    });
    expect(JSON.parse(resultOf(conversation).text)).toMatchObject([{ name: "AbortError" }, { type: "session_busy" }]);
    expectClosed(conversation, THREAD);
    expect(conversation.records(THREAD).at(-1)?.body).toMatchObject({ type: "assistant", interrupted: true });
  });
});

/** A crash in the middle of the scratch conversation; then another engine over the same database, with `script`. */
async function crashAndGoOn(durable: boolean, script: Parameters<typeof createConversation>[0]["script"]) {
  const body = (): void =>
    useTool({
      ...{ name: "ask", description: "d", harness: true as const, durable },
      run: async (context) => (await context.harness.prompt("x")).text,
    });
  const first = createConversation({ body, script: [{ calls: [ASK] }], wrapModel: halfwayAt(2, { hears: false }) });
  const id = first.post("go");
  await vi.waitFor(() => expect(first.records(THREAD)).toHaveLength(2), { interval: 2 });
  first.engine.close();
  const second = createConversation({ body, script, db: first.db });
  second.engine.supervisor.pass();
  const answer = await second.engine.waitSettled(id, 5000);
  expect(answer?.settlement.outcome).toBe("completed");
  return { conversation: second, id };
}

describe("a crash in the middle of a scratch conversation", () => {
  it("leaves the outcome of the tool unknown, and the lost conversation closed", async () => {
    const { conversation } = await crashAndGoOn(false, [{ text: "all done" }]);
    expect(resultOf(conversation)).toEqual({ text: INTERRUPTED_RESULT, isError: true });
    expect(conversation.threads()).toEqual([ROOT_THREAD, THREAD]);
    expectClosed(conversation, THREAD);
  });

  it("runs a durable tool again, in a conversation that begins afresh", async () => {
    const { conversation } = await crashAndGoOn(true, [{ text: "whole" }, { text: "all done" }]);
    expect(resultOf(conversation)).toEqual({ text: "whole", isError: false });
    const again = "harness/call_ask/2";
    expect(conversation.threads()).toEqual([ROOT_THREAD, THREAD, again]);
    expect(conversation.records(again).filter((record) => isRecordOf(record, "input"))).toHaveLength(1);
    expectClosed(conversation, THREAD);
  });

  it("makes no progress that would let a conversation crash for ever", async () => {
    const body = (): void =>
      useTool({
        ...{ name: "ask", description: "d", harness: true as const, durable: true as const },
        async run({ harness }) {
          await harness.prompt("x");
          await new Promise(() => {});
        },
      });
    let conversation = createConversation({ body, script: [{ calls: [ASK] }, { text: "step" }] });
    const id = conversation.post("go");
    const attempts = () => conversation.engine.readSubmission(id).attempts;
    for (let n = 1; conversation.engine.readSubmission(id).state === "running" && n < 20; n++) {
      const thread = `harness/call_ask/${attempts()}`;
      await vi.waitFor(() => expect(conversation.records(thread)).toHaveLength(2), { interval: 2 });
      conversation.engine.close();
      conversation = createConversation({ body, script: [{ text: "step" }], db: conversation.db });
      conversation.engine.supervisor.pass();
    }
    const answer = await conversation.engine.waitSettled(id, 100);
    expect(answer?.settlement).toMatchObject({ outcome: "failed", error: { type: "submission_retry_exhausted" } });
  });
});
