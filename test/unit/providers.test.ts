/** Models over HTTP: what is asked, what a fault means. Source: contract RUNTIME 9; cases provider-*. */
import type { Message } from "@earendil-works/pi-ai";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { classifyProviderFault, isProviderFault } from "../../durable-objects/models/provider-fault.ts";
import { toProviderMessages } from "../../durable-objects/models/provider-messages.ts";
import { createProviderStream } from "../../durable-objects/models/provider-stream.ts";
import { resolveModel } from "../../durable-objects/models/resolve-model.ts";
import type { Settings } from "../../durable-objects/protocol/settings.ts";
import {
  chatStream,
  type FakeProvider,
  fault,
  MESSAGE_START,
  messageEnd,
  messagesStream,
  type Reply,
  sse,
  startFakeProvider,
  textBlock,
} from "./fixtures/fake-provider.ts";
import { createSettings } from "./fixtures/settings.ts";
import { play, result, textOf, user } from "./fixtures/transcript.ts";

const KEY = "sk-very-secret";
let provider: FakeProvider;

beforeAll(async () => {
  provider = await startFakeProvider();
  // The SDKs take seconds to load for the first time.
  await Promise.all([import("openai"), import("@anthropic-ai/sdk")]);
}, 60_000);
afterEach(() => {
  provider.requests.length = 0;
  provider.replies.length = 0;
});
afterAll(() => provider.close());

function settings(over: Partial<Settings> = {}): Settings {
  return createSettings({
    openai: { apiKey: KEY, baseUrl: `${provider.url}/v1` },
    anthropic: { apiKey: KEY, baseUrl: provider.url },
    contextWindow: 50_000,
    maxTokens: 2_000,
    ...over,
  });
}

const VENDORS = ["openai-compatible/m", "openai/gpt-5", "anthropic/claude-x"] as const;

/** The same text as each vendor streams it. */
function goodReply(spec: string, text: string): Reply {
  return spec.startsWith("anthropic")
    ? sse(messagesStream([MESSAGE_START, ...textBlock(text), ...messageEnd("end_turn")]))
    : sse(chatStream([{ content: text }], "stop"));
}

async function ask(spec: string, replies: Reply[], messages: Message[] = [user("hi")]) {
  provider.replies.push(...replies);
  return (await play(resolveModel(spec, settings()), messages)).message;
}

async function faultOf(spec: string, reply: Reply) {
  const message = await ask(spec, [reply]);
  expect(isProviderFault(message)).toBe(true);
  expect(provider.requests).toHaveLength(1);
  const fault = classifyProviderFault(message);
  expect(fault.message).not.toContain("sk-");
  return fault;
}

describe.each(VENDORS)("%s", (spec) => {
  it("answers, with usage, and is no fault", async () => {
    const message = await ask(spec, [goodReply(spec, "héllo 🙂")]);
    expect(textOf(message)).toBe("héllo 🙂");
    expect(message.stopReason).toBe("stop");
    expect(message.usage.input).toBeGreaterThan(0);
    expect(isProviderFault(message)).toBe(false);
  });

  it("is asked with its key and without anybody's advertising", async () => {
    await ask(spec, [goodReply(spec, "x")]);
    const headers = provider.requests[0]?.headers ?? {};
    expect(headers["x-api-key"] ?? headers.authorization).toMatch(new RegExp(`^(?:Bearer )?${KEY}$`));
    expect(Object.keys(headers).filter((name) => /referer|x-title|attribution|openrouter/.test(name))).toEqual([]);
  });

  it.each([
    [400, "permanent"],
    [401, "permanent"],
    [403, "permanent"],
    [404, "permanent"],
    [408, "transient"],
    [409, "permanent"],
    [422, "permanent"],
    [429, "transient"],
    [500, "transient"],
    [502, "transient"],
    [503, "transient"],
    [529, "transient"],
    [413, "overflow"],
  ])("asks once, and HTTP %i is %s", async (status, kind) => {
    const body = { type: "error", error: { type: "some_error", message: `no, not with ${KEY}` } };
    expect(await faultOf(spec, fault(status, body))).toMatchObject({ kind, status });
  });

  it("keeps the wait it is asked for, in seconds, milliseconds or as a date", async () => {
    expect((await faultOf(spec, fault(429, {}, { "retry-after": "7" }))).retryAfterMs).toBe(7000);
    provider.requests.length = 0;
    expect((await faultOf(spec, fault(503, {}, { "retry-after-ms": "250" }))).retryAfterMs).toBe(250);
    provider.requests.length = 0;
    const date = new Date(Date.now() + 90_000).toUTCString();
    const wait = (await faultOf(spec, fault(429, {}, { "retry-after": date }))).retryAfterMs ?? 0;
    expect(wait).toBeGreaterThan(60_000);
    expect(wait).toBeLessThanOrEqual(91_000);
    provider.requests.length = 0;
    expect((await faultOf(spec, fault(429, {}, { "retry-after": "soon" }))).retryAfterMs).toBeUndefined();
  });

  it("takes a window that is too small for an overflow, and a rate limit on tokens for load", async () => {
    const long = { error: { message: "prompt is too long: 213462 tokens > 200000 maximum" } };
    expect((await faultOf(spec, fault(400, long))).kind).toBe("overflow");
    provider.requests.length = 0;
    expect((await faultOf(spec, fault(429, { error: { message: "Too many tokens per minute" } }))).kind).toBe(
      "transient",
    );
    provider.requests.length = 0;
    expect((await faultOf(spec, fault(400, { error: { message: "no (request_too_large)" } }))).kind).toBe("overflow");
  });

  it("takes a line that broke for transient, and the half call is not run", async () => {
    const start = { id: "c1", index: 0, type: "function", function: { name: "bash", arguments: '{"command":"echo' } };
    const half = spec.startsWith("anthropic")
      ? messagesStream([
          MESSAGE_START,
          {
            type: "content_block_start",
            index: 0,
            content_block: { type: "tool_use", id: "c1", name: "bash", input: {} },
          },
          {
            type: "content_block_delta",
            index: 0,
            delta: { type: "input_json_delta", partial_json: '{"command":"echo' },
          },
        ])
      : chatStream([{ tool_calls: [start] }], undefined);
    for (const reset of [true, false]) {
      provider.requests.length = 0;
      const message = await ask(spec, [sse(half, { reset })]);
      expect(message.stopReason).toBe("error");
      expect(classifyProviderFault(message)).toMatchObject({ kind: "transient", status: 200 });
    }
  });

  it("takes an answer without content for an empty one, to be tried again", async () => {
    const message = await ask(spec, [goodReply(spec, "")]);
    expect(message.stopReason).toBe("stop");
    expect(isProviderFault(message)).toBe(true);
    expect(classifyProviderFault(message)).toMatchObject({
      kind: "transient",
      message: expect.stringContaining("empty"),
    });
  });

  it("takes a provider that is not there for transient", async () => {
    const nowhere = settings({
      openai: { apiKey: KEY, baseUrl: "http://127.0.0.1:1/v1" },
      anthropic: { apiKey: KEY, baseUrl: "http://127.0.0.1:1" },
    });
    const { message } = await play(resolveModel(spec, nowhere), [user("hi")]);
    const found = classifyProviderFault(message);
    expect(found.kind).toBe("transient");
    expect(found.status).toBeUndefined();
  });

  it("ends aborted, which is no fault of the provider's", async () => {
    const controller = new AbortController();
    provider.replies.push((response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(": waiting\n\n");
      controller.abort();
    });
    const { message } = await play(resolveModel(spec, settings()), [user("hi")], { signal: controller.signal });
    expect(message.stopReason).toBe("aborted");
    expect(isProviderFault(message)).toBe(false);
  });

  it("is sent an empty tool result as (empty), and the transcript keeps it empty", async () => {
    const call = await ask(spec, [
      spec.startsWith("anthropic")
        ? sse(
            messagesStream([
              MESSAGE_START,
              {
                type: "content_block_start",
                index: 0,
                content_block: { type: "tool_use", id: "c1", name: "bash", input: {} },
              },
              { type: "content_block_delta", index: 0, delta: { type: "input_json_delta", partial_json: "{}" } },
              { type: "content_block_stop", index: 0 },
              ...messageEnd("tool_use"),
            ]),
          )
        : sse(
            chatStream(
              [{ tool_calls: [{ id: "c1", index: 0, type: "function", function: { name: "bash", arguments: "{}" } }] }],
              "tool_calls",
            ),
          ),
    ]);
    const transcript = [user("run"), call, result("c1", "bash", "")];
    await ask(spec, [goodReply(spec, "done")], toProviderMessages(transcript));
    expect(JSON.stringify(provider.requests.at(-1)?.body)).toContain('"(empty)"');
    expect(transcript[2]).toMatchObject({ content: [{ type: "text", text: "" }] });
  });
});

describe("a request that cannot be made", () => {
  it("is a permanent fault in its own words, as an empty answer of the model's", async () => {
    const { model } = resolveModel("openai-compatible/m", settings());
    const streamSimple = (): never => {
      throw new Error("no such option");
    };
    const api = { stream: streamSimple, streamSimple };
    const stream = createProviderStream({ api, apiKey: KEY, now: () => 5 });
    const { message, events } = await play({ model, stream }, [user("hi")]);
    expect(message).toMatchObject({
      ...{ role: "assistant", content: [], api: model.api, provider: model.provider, model: "m", timestamp: 5 },
      ...{ stopReason: "error", errorMessage: "no such option" },
    });
    expect(events).toMatchObject([{ type: "error", reason: "error", error: { timestamp: 5 } }]);
    expect(classifyProviderFault(message)).toEqual({
      kind: "permanent",
      message: "The request to the model provider could not be made.",
    });
  });
});

describe("a fault inside a stream that began well", () => {
  it.each([
    ["overloaded_error", "transient"],
    ["api_error", "transient"],
    ["rate_limit_error", "transient"],
    ["invalid_request_error", "permanent"],
    ["authentication_error", "permanent"],
  ])("of Anthropic's type %s is %s", async (type, kind) => {
    const text = messagesStream([MESSAGE_START, { type: "error", error: { type, message: "x" } }]);
    expect((await faultOf("anthropic/claude-x", sse(text))).kind).toBe(kind);
  });

  it("is permanent when the provider will not speak of it, however often it is asked", async () => {
    expect((await faultOf("openai/gpt-5", sse(chatStream([{ content: "x" }], "content_filter")))).kind).toBe(
      "permanent",
    );
    provider.requests.length = 0;
    const refusal = messagesStream([MESSAGE_START, ...messageEnd("refusal")]);
    expect((await faultOf("anthropic/claude-x", sse(refusal))).kind).toBe("permanent");
  });
});

describe("the stream's bytes", () => {
  it.each([
    ["LF", "\n"],
    ["CRLF", "\r\n"],
    ["CR", "\r"],
  ])("may end their lines with %s and come one at a time", async (_name, lineEnd) => {
    const text = `: ping${lineEnd}${lineEnd}${chatStream([{ content: "héllo " }, { content: "🙂" }], "stop", lineEnd)}`;
    const message = await ask("openai-compatible/m", [sse(text, { bytewise: true })]);
    expect(textOf(message)).toBe("héllo 🙂");
  });
});

describe("prompt caching", () => {
  it("is on with Anthropic, and no thread is kept on the server", async () => {
    // Threads are offered to Anthropic's own address only.
    const own = settings({ anthropic: { apiKey: KEY, baseUrl: `${provider.url}/api.anthropic.com` } });
    const model = resolveModel("anthropic/claude-x", own);
    provider.replies.push(goodReply("anthropic", "x"));
    await play(model, [{ role: "system", content: "Rules.", timestamp: 1 }, user("hi")], {
      sessionId: "conversation-1",
    });
    const body = provider.requests[0]?.body ?? {};
    expect(JSON.stringify(body)).toContain('"cache_control":{"type":"ephemeral"}');
    expect(body.thread).toBeUndefined();
  });
});
