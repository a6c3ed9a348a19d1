/** Blank tool results on the wire to every provider that speaks chat completions. Source: contract RUNTIME 9. */
import type { Message } from "@earendil-works/pi-ai";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { resolveModel } from "../../durable-objects/models/resolve-model.ts";
import { noUsage } from "../../durable-objects/protocol/usage.ts";
import { chatStream, type FakeProvider, sse, startFakeProvider } from "./fixtures/fake-provider.ts";
import { createSettings } from "./fixtures/settings.ts";
import { play, user } from "./fixtures/transcript.ts";

let provider: FakeProvider;

beforeAll(async () => {
  provider = await startFakeProvider();
  // The SDK takes seconds to load for the first time.
  await import("openai");
}, 60_000);
afterEach(() => {
  provider.requests.length = 0;
});
afterAll(() => provider.close());

/** A batch of calls, and what each of them gave. */
function batch(...results: string[][]): Message[] {
  const ids = results.map((_, index) => `c${index}`);
  return [
    user("run"),
    {
      role: "assistant",
      content: ids.map((id) => ({ type: "toolCall", id, name: "bash", arguments: {} })),
      ...{ api: "openai-completions", provider: "openai", model: "m", usage: noUsage() },
      stopReason: "toolUse",
      timestamp: 1,
    },
    ...results.map(
      (texts, index): Message => ({
        role: "toolResult",
        toolCallId: ids[index] ?? "",
        toolName: "bash",
        content: texts.map((text) => ({ type: "text", text })),
        isError: false,
        timestamp: 2,
      }),
    ),
  ];
}

describe.each(["openai-compatible/m", "openai/gpt-5", "cloudflare/@cf/m"])(
  "a tool result that is blank, to %s",
  (spec) => {
    /** What is sent of the results. */
    async function send(...results: string[][]): Promise<unknown[]> {
      provider.replies.push(sse(chatStream([{ content: "ok" }], "stop")));
      const settings = createSettings({
        openai: { apiKey: "k", baseUrl: `${provider.url}/v1` },
        ai: { fetch: (_input: unknown, init?: RequestInit) => fetch(`${provider.url}/ai`, init) },
      });
      await play(resolveModel(spec, settings), batch(...results));
      const sent = provider.requests[0]?.body.messages as { role: string; content: unknown }[];
      return sent.filter(({ role }) => role === "tool").map(({ content }) => content);
    }

    it("is sent as it is where there is something of it", async () => {
      expect(await send(["\n"], [" ", "\t"])).toEqual(["\n", " \n\t"]);
    });

    it("is never sent as nothing", async () => {
      expect(await send([""], [])).toEqual(["(no tool output)", "(no tool output)"]);
    });
  },
);
