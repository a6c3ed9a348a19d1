/** What servers send against their protocol, and what comes of it. Source: contract RUNTIME 9; cases provider-*. */
import type { Message } from "@earendil-works/pi-ai";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { resolveProviderFault } from "../../durable-objects/conversation/turn/provider-retry.ts";
import { mendEventStream } from "../../durable-objects/models/mend-event-stream.ts";
import { classifyProviderFault, isProviderFault } from "../../durable-objects/models/provider-fault.ts";
import { readRetryAfterMs } from "../../durable-objects/models/provider-stream.ts";
import { resolveModel } from "../../durable-objects/models/resolve-model.ts";
import {
  chatStream,
  type FakeProvider,
  MESSAGE_START,
  messageEnd,
  messagesStream,
  type Reply,
  sse,
  startFakeProvider,
  textBlock,
} from "./fixtures/fake-provider.ts";
import { createSettings } from "./fixtures/settings.ts";
import { callsOf, play, textOf, user } from "./fixtures/transcript.ts";

const CHAT = "openai-compatible/m";
const MESSAGES = "anthropic/claude-x";
const BOTH = [CHAT, MESSAGES] as const;

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

async function ask(spec: string, reply: Reply | string, url = provider.url, messages: Message[] = [user("hi")]) {
  provider.replies.push(typeof reply === "string" ? sse(reply) : reply);
  const settings = createSettings({
    openai: { apiKey: "k", baseUrl: `${url}/v1` },
    anthropic: { apiKey: "k", baseUrl: url },
  });
  return (await play(resolveModel(spec, settings), messages)).message;
}

async function faultOf(spec: string, reply: Reply | string, url = provider.url) {
  const message = await ask(spec, reply, url);
  expect(isProviderFault(message)).toBe(true);
  return classifyProviderFault(message);
}

function body(status: number, contentType: string, text: string): Reply {
  return (response) => void response.writeHead(status, { "content-type": contentType }).end(text);
}

function textStream(spec: string, text: string, stop: string): string {
  return spec === CHAT
    ? chatStream([{ content: text }], stop)
    : messagesStream([MESSAGE_START, ...textBlock(text), ...messageEnd(stop)]);
}

const call = (id: unknown, index: unknown, args: unknown, name: unknown = "bash") => ({
  tool_calls: [{ id, index, type: "function", function: { name, arguments: args } }],
});

function toolBlock(args: string, start: Record<string, unknown> = { id: "c1", name: "bash" }, isEnded = true) {
  return [
    { type: "content_block_start", index: 0, content_block: { type: "tool_use", input: {}, ...start } },
    { type: "content_block_delta", index: 0, delta: { type: "input_json_delta", partial_json: args } },
    ...(isEnded ? [{ type: "content_block_stop", index: 0 }] : []),
  ];
}

describe.each(BOTH)("%s", (spec) => {
  it("is tried again when nobody listens at its address", async () => {
    const closed = await startFakeProvider();
    await closed.close();
    expect((await faultOf(spec, "", closed.url)).kind).toBe("transient");
  });

  it.each([
    ["a page of HTML", 200, "text/html", "<html>sorry</html>"],
    ["a page of HTML with a 502", 502, "text/html", "<html>refused</html>"],
    ["nothing at all", 200, "text/event-stream", ""],
    ["a stream without an event", 200, "text/event-stream", ": ping\n\n"],
    ["JSON that is no fault", 200, "application/json", "{}"],
    ["an event that is no JSON", 200, "text/event-stream", 'event: message_start\ndata: {"choices":[{\n\n'],
  ])("is tried again after %s", async (_name, status, contentType, text) => {
    expect((await faultOf(spec, body(status, contentType, text))).kind).toBe("transient");
  });

  it.each([
    [{ message: "no", code: 401 }, "permanent", 401],
    [{ message: "no", type: "invalid_request_error" }, "permanent", 400],
    [{ message: "no", type: "permission_error" }, "permanent", 403],
    [{ message: "slow down", type: "rate_limit_error" }, "transient", 429],
    [{ message: "no", type: "overloaded_error" }, "transient", 529],
    [{ message: "upstream refused the connection", code: 502 }, "transient", 502],
    [{ message: "what is this" }, "transient", 500],
    ["boom", "transient", 500],
    [{ message: "prompt is too long: 9 tokens > 8 maximum", type: "invalid_request_error" }, "overflow", 400],
  ])("gives the fault %j the same weight in a 200 and in mid-stream", async (error, kind, status) => {
    const text = JSON.stringify({ type: "error", error });
    expect(await faultOf(spec, body(200, "application/json", text))).toMatchObject({ kind, status });
    const begun = spec === CHAT ? chatStream([{ content: "x" }], undefined) : messagesStream([MESSAGE_START]);
    const event = spec === CHAT ? "" : "event: error\n";
    expect(await faultOf(spec, `${begun}${event}data: ${text}\n\n`)).toMatchObject({ kind, status });
  });

  it.each(["eos", "COMPLETE", "stop_token"])("has answered when it stops with %s", async (reason) => {
    const message = await ask(spec, textStream(spec, "said", reason));
    expect([message.stopReason, textOf(message)]).toEqual(["stop", "said"]);
  });

  it.each(["length", "max_tokens", "max_output_tokens"])("was cut when it stops with %s", async (reason) => {
    expect((await ask(spec, textStream(spec, "said", reason))).stopReason).toBe("length");
  });

  it.each(["content_filter", "refusal", "SAFETY"])("is not asked again when it stops with %s", async (reason) => {
    expect(await faultOf(spec, textStream(spec, "said", reason))).toMatchObject({
      kind: "permanent",
      message: expect.stringContaining("refused to answer"),
    });
  });

  it.each(["error", "abort", "insufficient_system_resource"])(
    "is tried again when it stops with %s",
    async (reason) => {
      expect((await faultOf(spec, textStream(spec, "said", reason))).kind).toBe("transient");
    },
  );

  it("has overflowed when it stops because of its window", async () => {
    expect((await faultOf(spec, textStream(spec, "said", "model_context_window_exceeded"))).kind).toBe("overflow");
  });

  it.each(["[1]", '"x"', "null", "5", '{"command":'])("does not make a call of the arguments %s", async (args) => {
    const text =
      spec === CHAT
        ? chatStream([call("c1", 0, args)], "tool_calls")
        : messagesStream([MESSAGE_START, ...toolBlock(args), ...messageEnd("tool_use")]);
    const [part] = (await ask(spec, text)).content;
    expect(part).toMatchObject({ type: "toolCall", arguments: {}, argumentsError: expect.stringContaining(args) });
  });

  it("answers with usage that is missing, null or said twice", async () => {
    const chat = chatStream([{ content: "x" }], undefined);
    const end = 'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"usage":null}\n\n';
    const messages = messagesStream([
      { type: "message_start", message: { id: "m1", model: "claude-x", usage: null } },
      ...textBlock("x"),
      { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: null },
      ...messageEnd("end_turn"),
      { type: "message_stop" },
    ]);
    const message = await ask(spec, spec === CHAT ? `${chat}${end}${end}data: [DONE]\n\n` : messages);
    expect([message.stopReason, textOf(message)]).toEqual(["stop", "x"]);
    expect(Number.isFinite(message.usage.totalTokens)).toBe(true);
  });

  it.each([
    ["LF", "\n"],
    ["CRLF", "\r\n"],
    ["CR", "\r"],
  ])("is read with %s ends, pings and empty data, a byte at a time", async (_name, lineEnd) => {
    const ping = ": ping\n\ndata:\n\ndata: \n\n";
    const text = (ping + textStream(spec, "héllo 🙂", spec === CHAT ? "stop" : "end_turn") + ping).replaceAll(
      "\n",
      lineEnd,
    );
    expect(textOf(await ask(spec, sse(text, { bytewise: true })))).toBe("héllo 🙂");
  });

  it("is read with a delta of two million characters", async () => {
    const long = "é".repeat(2_000_000);
    expect(textOf(await ask(spec, textStream(spec, long, spec === CHAT ? "stop" : "end_turn")))).toBe(long);
  });
});

describe("an event stream", () => {
  it("has whole lines wherever a line end was cut", async () => {
    const bytes = new TextEncoder().encode("event: a\r\ndata: {}\r\n\r\n: x\r\rdata: 🙂\r\nrest");
    for (let cut = 0; cut <= bytes.length; cut++) {
      const source = new ReadableStream<Uint8Array>({
        start(controller) {
          for (const piece of [bytes.slice(0, cut), bytes.slice(cut)]) controller.enqueue(piece);
          controller.close();
        },
      });
      const text = await new Response(mendEventStream(source, () => {})).text();
      expect(text).toBe("event: a\ndata: {}\n\n\ndata: 🙂\nrest\n");
    }
  });
});

describe("calls of chat completions", () => {
  it.each<[string, unknown[]]>([
    ["have all the same number", [call("a", 0, '{"n":1}'), call("b", 0, '{"n":2}')]],
    ["have no numbers", [call("a", undefined, '{"n":1}'), call("b", undefined, '{"n":2}')]],
    ["have neither numbers nor ids", [call(undefined, undefined, '{"n":1}'), call(undefined, undefined, '{"n":2}')]],
    ["have one id for both", [call("a", 0, '{"n":1}'), call("a", 1, '{"n":2}')]],
    ["have one id for both and no numbers", [call("a", undefined, '{"n":1}'), call("a", undefined, '{"n":2}')]],
    ["come as objects", [call("a", 0, { n: 1 }), call("b", 1, { n: 2 })]],
    [
      "come in pieces that repeat id and name",
      [call("a", 0, '{"n"'), call("a", 0, ":1}"), call("b", 1, '{"n":'), call("b", 1, "2}")],
    ],
    [
      "come in pieces without numbers",
      [call("a", undefined, '{"n"'), call(undefined, undefined, ":1}", null), call("b", undefined, '{"n":2}')],
    ],
  ])("are two when they %s", async (_name, deltas) => {
    const message = await ask(CHAT, chatStream(deltas, "tool_calls"));
    expect(callsOf(message).map((each) => [each.name, each.arguments])).toEqual([
      ["bash", { n: 1 }],
      ["bash", { n: 2 }],
    ]);
  });

  it("keep the ids they came with", async () => {
    const deltas = [call("a", 0, '{"n":'), call(undefined, 0, "1}", null), call("b", 1, '{"n":2}')];
    expect(callsOf(await ask(CHAT, chatStream(deltas, "tool_calls"))).map(({ id }) => id)).toEqual(["a", "b"]);
  });
});

describe("an answer of chat completions", () => {
  it.each<[string, unknown[]]>([
    ["in parts", [{ content: [{ type: "text", text: "said" }] }]],
    ["as a refusal in words", [{ refusal: "said" }]],
    ["after an empty delta", [null, {}, { content: null }, { content: "said" }]],
  ])("is read when it comes %s", async (_name, deltas) => {
    expect(textOf(await ask(CHAT, chatStream(deltas, "stop")))).toBe("said");
  });

  it("is read when it comes whole, after events without choices", async () => {
    const whole = { choices: [{ index: 0, message: { role: "assistant", content: "said" }, finish_reason: "stop" }] };
    const text = `data: {"choices":[]}\n\ndata: {"choices":null}\n\ndata: ${JSON.stringify(whole)}\n\n`;
    expect(textOf(await ask(CHAT, text))).toBe("said");
  });
});

describe("a call of the Messages protocol", () => {
  it("is not run when the message ended inside of it", async () => {
    const events = [MESSAGE_START, ...toolBlock('{"command":"echo', undefined, false), ...messageEnd("tool_use")];
    expect((await faultOf(MESSAGES, messagesStream(events))).kind).toBe("transient");
  });

  it("is taken without id and name, for the loop to refuse", async () => {
    const events = [MESSAGE_START, ...toolBlock("{}", {}), ...messageEnd("tool_use")];
    expect(callsOf(await ask(MESSAGES, messagesStream(events)))).toEqual([{ id: "", name: "", arguments: {} }]);
  });
});

describe("the wait that a provider asks for", () => {
  const NOW = Date.parse("2026-01-01T00:00:00Z");
  const read = (headers: Record<string, string>) => readRetryAfterMs(new Headers(headers), NOW);

  it.each([
    ["7", 7_000],
    ["0.5", 500],
    ["999999999", 999_999_999_000],
    ["Thu, 01 Jan 2026 00:00:05 GMT", 6_000],
    ["Wed, 31 Dec 2025 00:00:00 GMT", undefined],
    ["-5", undefined],
    ["0", undefined],
    ["soon", undefined],
    ["", undefined],
  ])("of %j is %s ms", (value, expected) => {
    expect(read({ "retry-after": value })).toBe(expected);
  });

  it("goes by the provider's clock where it tells the time", () => {
    const date = "Thu, 01 Jan 2026 03:00:00 GMT";
    expect(read({ "retry-after": "Thu, 01 Jan 2026 03:00:05 GMT", date })).toBe(6_000);
  });

  it.each([
    [10, 1_000],
    [7_000, 7_000],
    [999_999_999_000, 60_000],
    [undefined, 2_000],
  ])("of %s ms becomes a wait of %i", async (retryAfterMs, afterMs) => {
    const message = await ask(CHAT, body(429, "application/json", "{}"));
    const details = { requested: true, status: 429, ...(retryAfterMs !== undefined && { retryAfterMs }) };
    const asked = { ...message, diagnostics: [{ type: "provider_response", timestamp: 0, details }] };
    expect(resolveProviderFault(asked, 0, 0.5)).toMatchObject({ kind: "retry", afterMs });
  });
});
