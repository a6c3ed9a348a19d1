/** A provider that falls silent. Source: contract RUNTIME 2.7. */
import type { AssistantMessage, AssistantMessageEvent } from "@earendil-works/pi-ai";
import { AssistantMessageEventStream } from "@earendil-works/pi-ai/utils/event-stream";
import { describe, expect, it } from "vitest";
import { failWhenSilent } from "../../durable-objects/models/silence.ts";
import { noUsage } from "../../durable-objects/protocol/usage.ts";

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
  let due: { at: number; run: () => void } | undefined;
  let now = 0;
  const timers = {
    after(ms: number, run: () => void) {
      const own = { at: now + ms, run };
      due = own;
      return () => {
        if (due === own) due = undefined;
      };
    },
  };
  const stream = failWhenSilent(
    (_model, _context, options) => {
      given = options?.signal;
      return source;
    },
    SILENCE_MS,
    timers,
  );
  const seen: AssistantMessageEvent[] = [];
  const answer = stream(MODEL, { messages: [] } as never, signal ? { signal } : {}) as AssistantMessageEventStream;
  const reading = (async () => {
    for await (const event of answer) seen.push(event);
  })();
  const turn = () => new Promise((resolve) => setImmediate(resolve));
  return {
    seen,
    reading,
    signal: () => given,
    isWatched: () => due !== undefined,
    async say(event: AssistantMessageEvent) {
      source.push(event);
      await turn();
    },
    async pass(ms: number) {
      await turn();
      now += ms;
      if (due && due.at <= now) due.run();
      await turn();
    },
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
    await provider.say({ type: "done", reason: "stop", message: messageOf("late") });
    expect(provider.seen.filter(({ type }) => type === "done" || type === "error")).toHaveLength(1);
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
