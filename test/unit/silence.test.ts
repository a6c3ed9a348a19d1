/** A provider that falls silent. Source: contract RUNTIME 2.7. */
import type { AssistantMessage, AssistantMessageEvent } from "@earendil-works/pi-ai";
import { AssistantMessageEventStream } from "@earendil-works/pi-ai/utils/event-stream";
import { describe, expect, it } from "vitest";
import { failWhenSilent } from "../../durable-objects/models/silence.ts";
import { noUsage } from "../../durable-objects/protocol/usage.ts";
import { virtualTime } from "./fixtures/virtual-time.ts";

const SILENCE_MS = 120_000;
const MODEL = { id: "m", api: "a", provider: "p" } as never;

function messageOf(text: string): AssistantMessage {
  return {
    role: "assistant",
    content: [{ type: "text", text }],
    api: "a",
    provider: "p",
    model: "m",
    usage: noUsage(),
    stopReason: "pending",
    timestamp: 0,
  };
}

/** A provider in the test's hands, and a clock that only the test moves. */
function open(signal?: AbortSignal) {
  const source = new AssistantMessageEventStream();
  let given: AbortSignal | undefined;
  const time = virtualTime();
  const stream = failWhenSilent(
    (_model, _context, options) => {
      given = options?.signal;
      return source;
    },
    SILENCE_MS,
    time.timers,
  );
  const seen: AssistantMessageEvent[] = [];
  const answer = stream(MODEL, { messages: [] } as never, signal ? { signal } : {}) as AssistantMessageEventStream;
  const reading = (async () => {
    for await (const event of answer) seen.push(event);
  })();
  return {
    seen,
    reading,
    signal: () => given,
    isWatched: () => time.pending() > 0,
    async say(event: AssistantMessageEvent) {
      source.push(event);
      await time.advance(0);
    },
    pass: time.advance,
  };
}

describe("a response", () => {
  it("ends as a transient fault with the text so far when its provider says nothing for too long", async () => {
    const provider = open();
    await provider.say({ type: "start", partial: messageOf("so far") });
    await provider.pass(SILENCE_MS - 1);
    expect(provider.signal()?.aborted).toBe(false);
    await provider.pass(1);
    expect(provider.signal()?.aborted).toBe(true);
    await provider.reading;
    expect(provider.seen.at(-1)).toMatchObject({
      type: "error",
      reason: "error",
      error: { content: [{ type: "text", text: "so far" }], stopReason: "error", errorMessage: /silent/ },
    });
    // What comes too late changes nothing.
    const seen = [...provider.seen];
    await provider.say({ type: "start", partial: messageOf("late") });
    expect(provider.isWatched()).toBe(false);
    await provider.say({ type: "done", reason: "stop", message: messageOf("late") });
    expect(provider.seen).toEqual(seen);
  });

  it("ends empty, as its model's, when its provider says nothing at all", async () => {
    const provider = open();
    await provider.pass(SILENCE_MS);
    await provider.reading;
    const error = { ...messageOf(""), content: [], stopReason: "error", errorMessage: expect.stringMatching(/silent/) };
    expect(provider.seen).toEqual([{ type: "error", reason: "error", error }]);
  });

  it("ends as a fault when its provider cannot be asked", async () => {
    const time = virtualTime();
    const stream = failWhenSilent(() => Promise.reject(new Error("no way")), SILENCE_MS, time.timers);
    const answer = (await stream(MODEL, { messages: [] } as never)) as AssistantMessageEventStream;
    expect(await answer.result()).toMatchObject({ content: [], stopReason: "error", errorMessage: "no way" });
    expect(time.pending()).toBe(0);
  });

  it("may take any time as long as something comes", async () => {
    const provider = open();
    for (let i = 0; i < 5; i++) {
      await provider.say({ type: "start", partial: messageOf("") });
      await provider.pass(SILENCE_MS - 1);
    }
    await provider.say({ type: "done", reason: "stop", message: messageOf("whole") });
    await provider.reading;
    expect(provider.seen.at(-1)).toMatchObject({ type: "done", message: { content: [{ text: "whole" }] } });
    expect(provider.isWatched()).toBe(false);
  });

  it("hands an abort on to the provider", async () => {
    const controller = new AbortController();
    const provider = open(controller.signal);
    await provider.pass(0);
    controller.abort();
    expect(provider.signal()?.aborted).toBe(true);
  });
});
