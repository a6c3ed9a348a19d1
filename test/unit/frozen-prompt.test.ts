/** The system prompt is sent byte for byte until a compaction, whatever it holds. Source: contract RUNTIME 5. */
import type { TranscriptContext } from "@earendil-works/pi-ai";
import { describe, expect, it } from "vitest";
import { useInstruction, useTool } from "../../durable-objects/agent/index.ts";
import { createConversation } from "./fixtures/scripted-conversation.ts";
import { nodeDatabase } from "./node-database.ts";

function systemOf({ messages: [system] }: TranscriptContext): { content: string; tools: string[] } {
  if (system?.role !== "system") throw new Error("A request without a system prompt.");
  const tools = system.toolsAdded?.map(({ name, description }) => `${name}: ${description}`) ?? [];
  return { content: String(system.content), tools };
}

describe("the system prompt of a conversation", () => {
  it.each<[string, () => void]>([
    ["with half a surrogate pair in it, of a text that was cut", () => useInstruction("half \uD83D of it")],
    ["of 2.4 million characters", () => useInstruction("ä€😀".repeat(600_000))],
    [
      "beside 3000 tools",
      () => {
        const run = () => "";
        for (let i = 0; i < 3000; i++) useTool({ name: `tool_${i}`, description: `${i} `.repeat(60), run });
      },
    ],
  ])("is the same after a restart, tools included: one %s", async (_what, body) => {
    const db = nodeDatabase();
    const sent: { content: string; tools: string[] }[] = [];
    const converse = () =>
      createConversation({
        ...{ db, body, script: [{ text: "done" }] },
        // A window that holds anything.
        wrapModel: ({ model, stream }) => ({
          model: { ...model, contextWindow: 0 },
          stream(used, context, options) {
            sent.push(systemOf(context));
            return stream(used, context, options);
          },
        }),
      });
    const first = converse();
    expect((await first.send("one")).settlement.outcome).toBe("completed");
    first.engine.close();
    expect((await converse().send("two")).settlement.outcome).toBe("completed");
    const [before, after] = sent;
    expect(before?.content).toMatch(/^Test\./);
    expect(before?.content.isWellFormed()).toBe(true);
    // Not `toEqual`: its message would hold both.
    expect(before?.content === after?.content).toBe(true);
    expect(after?.tools).toEqual(before?.tools);
  });
});
