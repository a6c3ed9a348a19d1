/** When a submission is given up, as its agent says. Source: contract RUNTIME 2.5, 2.7, 4. */
import { describe, expect, it } from "vitest";
import type { Agent } from "../../durable-objects/agent/agent.ts";
import { useAgentStart, useModel } from "../../durable-objects/agent/index.ts";
import { type Conversation, openConversation } from "./fixtures/conversation.ts";
import { nodeDatabase } from "./node-database.ts";

function open(durability: NonNullable<Agent["durability"]>, body: () => void = () => {}): Conversation {
  const agent: Agent = () => {
    useModel("scripted/demo");
    body();
    return undefined;
  };
  return openConversation(nodeDatabase(), Object.assign(agent, { durability }), () => new Promise(() => {}));
}

describe("an agent's durability", () => {
  it("gives a submission up after as many attempts without progress as it says", async () => {
    let attempts = 0;
    const conversation = open({ maxAttempts: 2 }, () => {
      useAgentStart(async () => {
        attempts++;
        await new Promise(() => {});
      });
    });
    const id = conversation.send("hello");
    for (const crash of [1, 2]) {
      await expect.poll(() => attempts).toBe(crash);
      conversation.crash();
      conversation.restart();
    }
    const { settlement } = await conversation.settled(id);
    expect(settlement).toMatchObject({ outcome: "failed", error: { type: "submission_retry_exhausted" } });
  });

  it("gives it up after as many milliseconds as it says", async () => {
    const conversation = open({ timeoutMs: 1 });
    const id = conversation.send("hello");
    await expect.poll(() => conversation.records().length).toBeGreaterThan(1);
    await new Promise((resolve) => setTimeout(resolve, 5));
    conversation.crash();
    conversation.restart();
    const { settlement } = await conversation.settled(id);
    expect(settlement).toMatchObject({ outcome: "failed", error: { type: "submission_timeout" } });
  });
});
