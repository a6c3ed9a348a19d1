/** From `provider/model` to something that answers, and what is missing for it. Source: contract RUNTIME 9. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { missingSecret, resolveModel } from "../../durable-objects/models/resolve-model.ts";
import type { Settings } from "../../durable-objects/protocol/settings.ts";
import { chatStream, type FakeProvider, sse, startFakeProvider } from "./fixtures/fake-provider.ts";
import { createSettings } from "./fixtures/settings.ts";
import { play, textOf, user } from "./fixtures/transcript.ts";

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

function settings(over: Partial<Settings> = {}): Settings {
  return createSettings({
    openai: { apiKey: "k", baseUrl: `${provider.url}/v1` },
    anthropic: { apiKey: "k" },
    contextWindow: 50_000,
    maxTokens: 2_000,
    ...over,
  });
}

describe("resolving a model", () => {
  it("gives limits of the settings to models no catalogue knows, and the catalogue's to those it knows", () => {
    expect(resolveModel("openai-compatible/llama", settings()).model).toMatchObject({
      id: "llama",
      contextWindow: 50_000,
      maxTokens: 2_000,
    });
    expect(resolveModel("anthropic/claude-next", settings()).model).toMatchObject({
      contextWindow: 50_000,
      maxTokens: 2_000,
    });
    const known = resolveModel("anthropic/claude-sonnet-4-5", settings()).model;
    expect(known.contextWindow).toBeGreaterThanOrEqual(200_000);
    expect(known.cost.input).toBeGreaterThan(0);
    expect(resolveModel("openai/constructor", settings()).model.contextWindow).toBe(50_000);
  });

  it("keeps slashes of the model's own name", () => {
    expect(resolveModel("openai-compatible/meta/llama-3", settings()).model.id).toBe("meta/llama-3");
  });

  it("works without a key behind a compatible server", async () => {
    provider.replies.push(sse(chatStream([{ content: "local" }], "stop")));
    const keyless = settings({ openai: { baseUrl: `${provider.url}/v1` } });
    const { message } = await play(resolveModel("openai-compatible/m", keyless), [user("hi")]);
    expect(textOf(message)).toBe("local");
    expect(provider.requests[0]?.path).toBe("/v1/chat/completions");
  });

  it("goes through the binding to Workers AI, with no key of anybody's", async () => {
    const seen: Request[] = [];
    const ai = {
      aiGatewayLogId: null,
      fetch: async (input: RequestInfo, init?: RequestInit) => {
        seen.push(new Request(input, init));
        return new Response(chatStream([{ content: "edge" }], "stop"), {
          headers: { "content-type": "text/event-stream" },
        });
      },
    };
    const model = resolveModel("cloudflare/@cf/meta/llama-9", createSettings({ ai }));
    const { message } = await play(model, [user("hi")]);
    expect(textOf(message)).toBe("edge");
    expect(seen[0]?.url).toBe("https://workers-binding.ai/ai-gateway/gateways/default/workers-ai/v1/chat/completions");
    expect(seen[0]?.headers.has("authorization")).toBe(false);
    expect(await seen[0]?.json()).toMatchObject({ model: "@cf/meta/llama-9" });
  });

  it.each([
    ["anthropic/claude-x", "ANTHROPIC_API_KEY"],
    ["openai/gpt-5", "OPENAI_API_KEY"],
    ["openai-compatible/m", "OPENAI_BASE_URL"],
    ["cloudflare/@cf/x", "AI"],
  ])("names what %s needs: %s", (spec, name) => {
    const nothing = createSettings();
    expect(missingSecret(spec, nothing)).toContain(name);
    expect(missingSecret(spec, settings({ ai: { fetch: () => {} } }))).toBeUndefined();
    try {
      resolveModel(spec, nothing);
      expect.unreachable();
    } catch (error) {
      expect(error).toMatchObject({ type: "model_not_configured", message: expect.stringContaining(name) });
    }
  });

  it.each(["claude", "/x", "openai/", "openai/ ", "nobody/x", "", "scripted/other"])("refuses the spec %j", (spec) => {
    try {
      resolveModel(spec, settings());
      expect.unreachable();
    } catch (error) {
      expect(error).toMatchObject({ type: "model_not_configured" });
    }
  });

  it("needs nothing for the embedded model", () => {
    expect(missingSecret("scripted/demo", createSettings())).toBeUndefined();
  });
});
