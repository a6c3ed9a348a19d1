/** Hooks where they will run: in workerd, over the object's own SQLite. Source: contract RUNTIME 4. */
import { env, runInDurableObject } from "cloudflare:test";
import { describe, expect, it } from "vitest";
import type { Agent } from "../../durable-objects/agent/agent.ts";
import {
  useAgentFinish,
  useAgentStart,
  useDataWriter,
  useModel,
  usePersistentState,
  useResponseFinish,
  useTool,
} from "../../durable-objects/agent/index.ts";
import { durableDatabase } from "../../durable-objects/conversation/store/database.ts";
import { openConversation } from "../unit/fixtures/conversation.ts";

describe("an agent's hooks in a Durable Object", () => {
  it("write in the seam they run in, after an await too, and end the response in one transaction", async () => {
    const agent: Agent = () => {
      useModel("scripted/demo");
      const [, set] = usePersistentState<string[]>("order", []);
      const note = (what: string) => set((before) => [...before, what]);
      const report = useDataWriter("progress");
      useAgentStart(async ({ append }) => {
        await new Promise((resolve) => setTimeout(resolve, 1));
        note("start");
        append({ kind: "signal", type: "note", body: "started" });
      });
      useTool({
        name: "work",
        description: "d",
        async run() {
          await new Promise((resolve) => setTimeout(resolve, 1));
          note("work");
          report("halfway");
        },
      });
      useAgentFinish(() => note("finish"));
      useResponseFinish(({ response }) => ({ calls: response.toolCalls.length }));
      return undefined;
    };
    const { CONVERSATION } = env as unknown as { CONVERSATION: DurableObjectNamespace };
    await runInDurableObject(CONVERSATION.getByName("coder/hooks"), async (_instance, state) => {
      const conversation = openConversation(durableDatabase(state.storage), agent, (request) =>
        request.length < 3 ? [{ name: "work" }, { name: "work" }] : "done",
      );
      const { settlement, message } = await conversation.settled(conversation.send("hello"));
      expect(settlement.outcome).toBe("completed");
      expect(conversation.state("order")).toEqual(["start", "work", "work", "finish"]);
      expect(message?.metadata).toEqual({ calls: 2 });
      expect(message?.parts).toContainEqual({ type: "data-progress", data: "halfway" });
    });
  });
});
