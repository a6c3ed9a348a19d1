/** Tokens and cost: of a turn, of a submission, of a conversation. Source: contract RUNTIME 9. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createUsageTotal } from "../../durable-objects/conversation/store/usage-total.ts";
import type { TokenUsage } from "../../durable-objects/protocol/submission.ts";
import { ModelServer } from "../model-server/model-server.ts";
import { openProvidedConversation } from "./fixtures/provided-conversation.ts";
import { nodeDatabase } from "./node-database.ts";

let model: ModelServer;
beforeAll(async () => {
  model = await ModelServer.start();
  // The SDKs take seconds to load for the first time.
  await Promise.all([import("openai"), import("@anthropic-ai/sdk")]);
}, 60_000);
afterAll(() => model.stop());

const usage = (input: number, output: number) => ({ usage: { input, output } });
const BASH = [{ id: "c1", name: "bash", arguments: { command: "echo 1" } }];

describe("usage", () => {
  it.each(["openai/gpt-5", "anthropic/claude-haiku-4-5"])(
    "of %s stands on each turn and is summed over submission and conversation, crash or not",
    async (spec) => {
      const turns = [
        { calls: BASH, ...usage(1_000, 10) },
        { text: "half", fault: { kind: "cut" as const, after: "text" as const } },
        { text: "one", ...usage(2_000, 20) },
        { text: "two", ...usage(3_000, 30) },
      ];
      const conversation = openProvidedConversation(model, { spec, turns });
      const ids = [conversation.post("a")];
      await conversation.settled(ids[0] ?? "");
      conversation.restart();
      ids.push(conversation.post("b"));
      await conversation.settled(ids[1] ?? "");

      const steps = conversation
        .records()
        .flatMap(({ body }) => (body.type === "assistant" ? [body.message.usage] : []));
      expect(steps.map(({ input, output }) => [input, output])).toEqual([
        [1_000, 10],
        [2_000, 20],
        [3_000, 30],
      ]);
      const submissions = ids.map((id) => conversation.engine.readSubmission(id).usage);
      expect(submissions).toMatchObject([
        { input: 3_000, output: 30, totalTokens: 3_030 },
        { input: 3_000, output: 30, totalTokens: 3_030 },
      ]);
      const total = conversation.engine.readQueue().usage;
      expect(total).toMatchObject({ input: 6_000, output: 60, totalTokens: 6_060 });
      expect(total.cost).toBeGreaterThan(0);
      expect(total.cost).toBeCloseTo(
        steps.reduce((sum, { cost }) => sum + cost.total, 0),
        12,
      );
    },
  );

  it("of a failed submission counts too", async () => {
    const turns = [{ calls: BASH, ...usage(5, 1) }, { fault: { kind: "http" as const, status: 401 } }];
    const conversation = openProvidedConversation(model, { spec: "openai-compatible/m", turns });
    expect((await conversation.send("a")).settlement.outcome).toBe("failed");
    expect(conversation.engine.readQueue().usage).toMatchObject({ input: 5, output: 1 });
  });

  it("begins with what an older deployment has settled", () => {
    const db = nodeDatabase();
    db.run("CREATE TABLE instance (key TEXT PRIMARY KEY, value TEXT NOT NULL)");
    db.run("CREATE TABLE submission (seq INTEGER PRIMARY KEY, usage TEXT)");
    const used: TokenUsage = { input: 1, output: 2, cacheRead: 3, cacheWrite: 4, totalTokens: 10, cost: 0.5 };
    for (const text of [JSON.stringify(used), JSON.stringify(used), null]) {
      db.run("INSERT INTO submission (usage) VALUES (?)", text);
    }
    const total = createUsageTotal(db);
    expect(total.read()).toEqual({ input: 2, output: 4, cacheRead: 6, cacheWrite: 8, totalTokens: 20, cost: 1 });
    total.add(used);
    db.run("DELETE FROM submission");
    expect(total.read()).toMatchObject({ input: 3, cost: 1.5 });
  });
});
