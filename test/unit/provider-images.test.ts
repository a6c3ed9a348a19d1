/** Images that a provider refuses. Source: contract RUNTIME 1.9, 9. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ImageAttachment } from "../../durable-objects/protocol/submission.ts";
import { ModelServer } from "../model-server/model-server.ts";
import { type ModelTurn, type RecordedRequest, textOf as textOfContent } from "../model-server/script.ts";
import {
  openProvidedConversation,
  PROVIDED_MODELS,
  type ProvidedConversation,
} from "./fixtures/provided-conversation.ts";

const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const IMAGE: ImageAttachment = { type: "image", data: PNG, mimeType: "image/png" };

const refusal = (status: number, message: string): ModelTurn => ({
  fault: { kind: "http", status, body: { error: { type: "invalid_request_error", message } } },
});
const NO_IMAGES = refusal(400, "This model does not support image input.");

let model: ModelServer;
beforeAll(async () => {
  model = await ModelServer.start();
  // The SDKs take seconds to load for the first time.
  await Promise.all([import("openai"), import("@anthropic-ai/sdk")]);
}, 60_000);
afterAll(() => model.stop());

const hasImage = (body: unknown): boolean => JSON.stringify(body).includes(PNG);

function outcomes(conversation: ProvidedConversation): unknown[] {
  return conversation.records().flatMap(({ body }) => (body.type === "settled" ? [body.outcome] : []));
}

/** What a request and the one before it have in common must be all of the one before it. */
function expectSamePrefix(before: unknown, after: unknown): void {
  const plain = (body: unknown) =>
    (body as { messages: { role: string; content: unknown }[] }).messages.map(({ role, content }) => [
      role,
      textOfContent(content),
    ]);
  expect(plain(after).slice(0, plain(before).length)).toEqual(plain(before));
}

describe.each(PROVIDED_MODELS)("with %s", (spec) => {
  it.each([
    ["a 400 that speaks of images", NO_IMAGES],
    ["a 400 that says nothing", refusal(400, "bad request")],
    ["a 413", refusal(413, "too large")],
    ["a 415", refusal(415, "no")],
    ["a 404 that speaks of images", refusal(404, "No endpoints found that support image input")],
    ["a 500 of a local server", refusal(500, "image input is not supported - hint: provide the mmproj")],
  ])("an image refused by %s is named in its place, and what is said goes through", async (_name, refused) => {
    const turns = [refused, { text: "I cannot see it." }, { text: "two" }, { text: "three" }];
    const conversation = openProvidedConversation(model, { spec, turns });
    await conversation.send("look", [IMAGE]);
    await conversation.send("and now");
    conversation.restart();
    await conversation.send("still there?");
    expect(outcomes(conversation)).toEqual(["completed", "completed", "completed"]);
    const bodies = conversation.requests().map(({ body }) => body);
    expect(bodies.map(hasImage)).toEqual([true, false, false, false]);
    const [, second, third, fourth] = bodies;
    expect(/\(image att_image_[^ ]+_0 left out: /.test(JSON.stringify(second))).toBe(true);
    expectSamePrefix(second, third);
    expectSamePrefix(third, fourth);
    expect(conversation.problems()).toEqual([]);
    expect(conversation.waits).toEqual([]);
  });

  it("tries a later image anew, and one that was taken stays", async () => {
    const turns = [{ text: "a cat" }, NO_IMAGES, { text: "what?" }, { text: "another cat" }];
    const conversation = openProvidedConversation(model, { spec, turns });
    await conversation.send("one", [IMAGE]);
    await conversation.send("two", [IMAGE]);
    await conversation.send("three", [IMAGE]);
    expect(outcomes(conversation)).toEqual(["completed", "completed", "completed"]);
    const shown = conversation.requests().map(({ body }) => JSON.stringify(body).split(PNG).length - 1);
    expect(shown).toEqual([1, 2, 0, 1]);
  });

  it("leaves out what it refused behind a compaction too, crash or not", async () => {
    let steps = 0;
    const big = { command: "seq -s , 1 5000" };
    const turns = ({ body }: RecordedRequest): ModelTurn => {
      const sent = JSON.stringify(body);
      if (sent.includes("<conversation>")) return { text: "## Goal\nLook at it." };
      if (hasImage(body)) return NO_IMAGES;
      steps++;
      if (steps === 6) return { fault: { kind: "hang", after: "request" } };
      if (steps > 6) return { text: "done" };
      const usage = { input: Math.ceil(sent.length / 4), output: 10 };
      return { calls: [{ id: `c${steps}`, name: "bash", arguments: big }], usage };
    };
    const conversation = openProvidedConversation(model, { spec, turns, contextWindow: 30_000 });
    const submissionId = conversation.post("look", [IMAGE]);
    await expect.poll(() => steps, { timeout: 10_000 }).toBe(6);
    const compactions = conversation
      .records()
      .flatMap(({ body }) => (body.type === "signal" ? (body.compaction ?? []) : []));
    const omittedSeq = conversation.records().find(({ body }) => body.type === "images_omitted")?.seq ?? 0;
    expect(compactions.at(-1)?.carriedSeqs).toHaveLength(1);
    expect(compactions.at(-1)?.keptFromSeq).toBeGreaterThan(omittedSeq);
    conversation.restart();
    expect((await conversation.settled(submissionId)).settlement.outcome).toBe("completed");
    expect(conversation.requests().filter(({ body }) => hasImage(body))).toHaveLength(1);
    expect(conversation.problems()).toEqual([]);
  });

  it("asks once more at most, and then fails as it would without images", async () => {
    const conversation = openProvidedConversation(model, { spec, turns: [NO_IMAGES, NO_IMAGES] });
    const { settlement } = await conversation.send("look", [IMAGE]);
    expect(settlement).toMatchObject({ outcome: "failed", error: { type: "provider_failed", meta: { status: 400 } } });
    expect(conversation.requests()).toHaveLength(2);
  });

  it.each([401, 403, 422])("does not take a %i without images for one", async (status) => {
    const conversation = openProvidedConversation(model, { spec, turns: [refusal(status, "images are great")] });
    expect((await conversation.send("look")).settlement.outcome).toBe("failed");
    expect(conversation.requests()).toHaveLength(1);
  });

  it("does not take a full window, or a key that is refused, for images", async () => {
    for (const refused of [
      refusal(401, "no image for you"),
      refusal(400, "prompt is too long: 9 tokens > 8 maximum"),
    ]) {
      const conversation = openProvidedConversation(model, { spec, turns: [refused] });
      expect((await conversation.send("look", [IMAGE])).settlement.outcome).toBe("failed");
      expect(conversation.requests()).toHaveLength(1);
    }
  });

  it("keeps an image that was taken when a later request is called wrong", async () => {
    const conversation = openProvidedConversation(model, { spec, turns: [{ text: "a cat" }, refusal(400, "bad")] });
    await conversation.send("one", [IMAGE]);
    await conversation.send("two");
    expect(outcomes(conversation)).toEqual(["completed", "failed"]);
    expect(conversation.records().some(({ body }) => body.type === "images_omitted")).toBe(false);
  });
});

describe("a model that takes no images", () => {
  it("is shown their names, and is asked once", async () => {
    const conversation = openProvidedConversation(model, { spec: "openai/gpt-4", turns: [{ text: "ok" }] });
    await conversation.send("look", [IMAGE]);
    const [body] = conversation.requests().map((request) => JSON.stringify(request.body));
    expect(hasImage(body)).toBe(false);
    expect(/\(image att_image_[^ ]+_0 left out: /.test(body ?? "")).toBe(true);
    expect(outcomes(conversation)).toEqual(["completed"]);
  });

  it("is not asked twice when it refuses something else", async () => {
    const conversation = openProvidedConversation(model, { spec: "openai/gpt-4", turns: [NO_IMAGES] });
    expect((await conversation.send("look", [IMAGE])).settlement.outcome).toBe("failed");
    expect(conversation.requests()).toHaveLength(1);
  });
});
