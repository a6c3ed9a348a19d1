/** Prompt caching, as the requests of a whole conversation show it. Source: contract RUNTIME 9. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { resolveModel } from "../../durable-objects/models/resolve-model.ts";
import { ModelServer } from "../model-server/model-server.ts";
import type { ChatRequest, RecordedRequest } from "../model-server/script.ts";
import { openProvidedConversation } from "./fixtures/provided-conversation.ts";
import { createSettings } from "./fixtures/settings.ts";
import { play, user } from "./fixtures/transcript.ts";

let model: ModelServer;
beforeAll(async () => {
  model = await ModelServer.start();
  // The SDKs take seconds to load for the first time.
  await Promise.all([import("openai"), import("@anthropic-ai/sdk")]);
}, 60_000);
afterAll(() => model.stop());

/** Two responses, the first with a call and each behind a restart. */
async function converse(spec: string): Promise<RecordedRequest[]> {
  const calls = [{ id: "c1", name: "bash", arguments: { command: "echo 1" } }];
  const turns = [{ reasoning: "hm", text: "so", calls }, { text: "one" }, { text: "two" }];
  const conversation = openProvidedConversation(model, { spec, turns });
  await conversation.send("a");
  conversation.restart();
  await conversation.send("b");
  expect(conversation.requests()).toHaveLength(3);
  return conversation.requests();
}

/** What a cache compares: without its marks, a text as one block. Settings that follow the newest message are none. */
function cachedPart({ system, tools, messages }: ChatRequest): string[] {
  const plain = (_key: string, value: unknown): unknown => {
    if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
    const { cache_control: _mark, ...rest } = value as Record<string, unknown>;
    if (typeof rest.content === "string") rest.content = [{ type: "text", text: rest.content }];
    return rest;
  };
  return [JSON.stringify({ system, tools }, plain), ...messages.map((message) => JSON.stringify(message, plain))];
}

function expectGrowing(requests: readonly RecordedRequest[]): void {
  requests.slice(1).forEach(({ body }, at) => {
    const before = cachedPart(requests[at]?.body ?? { messages: [] });
    expect(cachedPart(body).slice(0, before.length)).toEqual(before);
  });
}

describe("Anthropic", () => {
  it.each(["anthropic/claude-x", "anthropic/claude-haiku-4-5"])(
    "of %s is told to cache system prompt, tools and the newest message, and each request begins as the one before",
    async (spec) => {
      const requests = await converse(spec);
      expectGrowing(requests);
      for (const { body, problems } of requests) {
        // The strict check of the model server names every place that must be marked.
        expect(problems).toEqual([]);
        expect(JSON.stringify(body).split('"cache_control":{"type":"ephemeral"}')).toHaveLength(4);
      }
    },
  );
});

describe("OpenAI", () => {
  it("is given one cache key for a conversation, and another for another", async () => {
    const requests = await converse("openai/gpt-5");
    expectGrowing(requests);
    const keys = requests.map(({ body }) => body.prompt_cache_key);
    expect(keys[0]).toMatch(/./);
    expect(new Set(keys).size).toBe(1);
    const [other] = await converse("openai/gpt-5");
    expect(other?.body.prompt_cache_key).not.toBe(keys[0]);
  });
});

describe("a server of unknown make", () => {
  it("is sent no word of caching that it might refuse, and can cache what begins alike", async () => {
    const requests = await converse("openai-compatible/m");
    expectGrowing(requests);
    for (const { body } of requests) expect(Object.keys(body).filter((name) => /cache|session/.test(name))).toEqual([]);
  });
});

describe("Workers AI", () => {
  it.each(["@cf/meta/llama-4-scout-17b-16e-instruct", "@cf/meta/llama-9"])(
    "is told the conversation, so that %s finds its cache",
    async (id) => {
      const seen: (string | null)[] = [];
      const ai = {
        fetch: async (input: RequestInfo | URL, init?: RequestInit) => {
          seen.push(new Request(input, init).headers.get("x-session-affinity"));
          return new Response("{}", { status: 400 });
        },
      };
      const resolved = resolveModel(`cloudflare/${id}`, createSettings({ ai }));
      await play(resolved, [user("hi")], { sessionId: "conversation-1" });
      expect(seen).toEqual(["conversation-1"]);
    },
  );
});
