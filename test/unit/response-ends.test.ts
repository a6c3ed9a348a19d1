/** How a response with finish hooks ends, crash or not, and what readers see of it. Source: contract RUNTIME 2.5, 2.7, 4. */
import { describe, expect, it } from "vitest";
import type { Agent } from "../../durable-objects/agent/agent.ts";
import {
  useAgentFinish,
  useAgentStart,
  useDelivery,
  useModel,
  usePersistentState,
  useResponseFinish,
  useResponseStart,
  useTool,
} from "../../durable-objects/agent/index.ts";
import { isRecordOf } from "../../durable-objects/protocol/records.ts";
import type { WireChunk } from "../../durable-objects/protocol/wire.ts";
import { foldChunks } from "../wire/fold-chunks.ts";
import { type Conversation, type Model, openConversation } from "./fixtures/conversation.ts";
import { nodeDatabase } from "./node-database.ts";

function open(body: () => void, model: Model = () => "done"): Conversation {
  const agent: Agent = () => {
    useModel("scripted/demo");
    body();
    return undefined;
  };
  return openConversation(nodeDatabase(), agent, model);
}

function cyclesOf(conversation: Conversation): unknown[] {
  return conversation
    .records()
    .filter((record) => isRecordOf(record, "agent_finish_cycle"))
    .map(({ body }) => body.continues ?? false);
}

const again = { kind: "signal", type: "again", body: "go on" } as const;

describe("useAgentFinish in a conversation", () => {
  it("sends the model on until no callback appends, and is told all calls and usage so far", async () => {
    const seen: unknown[] = [];
    const model: Model = (request) => (request.length === 1 ? [{ name: "look" }, { name: "nothing" }] : "done");
    const conversation = open(() => {
      const [n, set] = usePersistentState("n", 0);
      useTool({ name: "look", description: "d", run: () => "fine" });
      useAgentFinish(({ append, response }) => {
        seen.push([response.toolCalls, response.usage.totalTokens]);
        set(n + 1);
        if (n < 2) append(again);
      });
    }, model);
    const { settlement } = await conversation.settled(conversation.send("hello"));
    const calls = [
      { tool: "look", isError: false },
      { tool: "nothing", isError: true },
    ].sort();
    expect(settlement.outcome).toBe("completed");
    expect(seen.map((pair) => (pair as unknown[])[1])).toEqual([30, 45, 60]);
    expect((seen[0] as [unknown[]])[0]).toHaveLength(2);
    expect((seen[0] as [unknown[]])[0]).toEqual(expect.arrayContaining(calls));
    expect(cyclesOf(conversation)).toEqual([true, true, false]);
    expect(conversation.state("n")).toBe(3);
  });

  it("runs its callbacks one after the other, each seeing what those before have written", async () => {
    const order: string[] = [];
    const conversation = open(() => {
      const [, set] = usePersistentState<string[]>("list", []);
      for (const name of ["slow", "quick"]) {
        useAgentFinish(async () => {
          await new Promise((resolve) => setTimeout(resolve, name === "slow" ? 5 : 0));
          order.push(name);
          set((before) => [...before, name]);
        });
      }
    });
    await conversation.settled(conversation.send("hello"));
    expect(order).toEqual(["slow", "quick"]);
    expect(conversation.state("list")).toEqual(order);
  });

  it("waits for messages that wait: several are answered with one last cycle", async () => {
    let conversation: Conversation;
    const model: Model = (request) => {
      if (request.length === 1) conversation.send("two");
      return "done";
    };
    let cycles = 0;
    conversation = open(() => {
      useAgentFinish(() => void cycles++);
    }, model);
    await conversation.settled(conversation.send("one"));
    expect(cycles).toBe(1);
  });

  it("is not asked more than 32 times to go on", async () => {
    let requests = 0;
    const conversation = open(
      () => useAgentFinish(({ append }) => append(again)),
      () => `answer ${++requests}`,
    );
    const { settlement } = await conversation.settled(conversation.send("hello"));
    expect(settlement).toMatchObject({ outcome: "failed", error: { type: "operation_failed" } });
    expect(settlement.error?.message).toBe('Agent "tester": useAgentFinish() sent the response on more than 32 times.');
    expect(requests).toBe(33);
  });

  it("runs again where a crash cut it: the model is not asked again, the response does not settle without it", async () => {
    let [runs, requests] = [0, 0];
    const cut = Promise.withResolvers<void>();
    const conversation = open(
      () => {
        const [, set] = usePersistentState("n", 0);
        useAgentFinish(async () => {
          set((before) => before + 1);
          if (++runs > 1) return;
          cut.resolve();
          await new Promise(() => {});
        });
      },
      () => `answer ${++requests}`,
    );
    const id = conversation.send("hello");
    await cut.promise;
    conversation.crash();
    conversation.restart();
    expect((await conversation.settled(id)).settlement.outcome).toBe("completed");
    expect([runs, requests, conversation.state("n")]).toEqual([2, 1, 1]);
    expect(cyclesOf(conversation)).toEqual([false]);
  });

  it("closes the response also when a deploy took the hook away between answer and end", async () => {
    let isDeclared = true;
    const cut = Promise.withResolvers<void>();
    const conversation = open(() => {
      if (!isDeclared) return;
      useAgentFinish(async () => {
        cut.resolve();
        await new Promise(() => {});
      });
    });
    const id = conversation.send("hello");
    await cut.promise;
    conversation.crash();
    isDeclared = false;
    conversation.restart();
    expect((await conversation.settled(id)).settlement.outcome).toBe("completed");
    expect(cyclesOf(conversation)).toEqual([false]);
  });
});

describe("metadata of a response", () => {
  it("is what the callbacks return, merged at every depth, told to readers as in the snapshot", async () => {
    const seen: unknown[] = [];
    const conversation = open(() => {
      useResponseStart(() => ({ a: { x: 1, gone: undefined }, list: [1] }));
      useResponseStart(({ metadata }) => {
        seen.push(metadata);
        return JSON.parse('{"a":{"y":2,"__proto__":{"bad":1}},"constructor":1,"list":[2]}') as Record<string, unknown>;
      });
      useResponseFinish(({ metadata, response }) => {
        seen.push(metadata);
        return { tokens: response.usage.totalTokens };
      });
      useResponseFinish(() => {});
    });
    const { message } = await conversation.settled(conversation.send("hello"));
    const merged = { a: { x: 1, y: 2 }, list: [2] };
    expect(message?.metadata).toEqual({ ...merged, tokens: 15 });
    expect(seen).toEqual([{ a: { x: 1 }, list: [1] }, merged]);
    const folded = foldChunks((await conversation.chunks()) as WireChunk[]);
    expect(folded.messages).toEqual((await conversation.snapshot()).messages);
  });

  it("starts once a response, before the agent starts, whoever joins", async () => {
    let conversation: Conversation;
    const model: Model = (request) => {
      if (request.length === 1) conversation.send("two");
      return "done";
    };
    const order: string[] = [];
    conversation = open(() => {
      const { body } = useDelivery();
      useAgentStart(() => void order.push(`message ${body}`));
      useResponseStart(() => void order.push(`response ${body}`));
    }, model);
    await conversation.settled(conversation.send("one"));
    expect(order).toEqual(["response one", "message one", "message two"]);
  });

  it("is there when the settlement is, also when a crash came between the last cycle and the settlement", async () => {
    let isBroken = true;
    const conversation = open(() => {
      useAgentFinish(() => {});
      useResponseFinish(() => {
        // The transaction is rolled back, as a crash in it would.
        if (isBroken) conversation.crash();
        return { isFinished: true };
      });
    });
    const id = conversation.send("hello");
    await expect.poll(() => cyclesOf(conversation)).toEqual([false]);
    isBroken = false;
    conversation.restart();
    const { settlement, message } = await conversation.settled(id);
    expect([settlement.outcome, message?.metadata]).toEqual(["completed", { isFinished: true }]);
    expect(cyclesOf(conversation)).toEqual([false]);
  });

  it.each<[string, () => unknown]>([
    ["a promise", async () => ({})],
    ["a list", () => [1]],
    ["a date", () => new Date(0)],
    ["a text", () => "x"],
  ])("may not be %s", async (_what, run) => {
    for (const hook of [useResponseStart, useResponseFinish]) {
      const conversation = open(() => hook(run as never));
      const { settlement } = await conversation.settled(conversation.send("hello"));
      expect(settlement).toMatchObject({ outcome: "failed", error: { type: "operation_failed" } });
      expect(settlement.error?.message).toContain(`Agent "tester" misused ${hook.name}(): the callback`);
    }
  });

  it("comes from observers: what writes throws in them", async () => {
    const conversation = open(() => {
      const [, set] = usePersistentState("n", 0);
      useResponseFinish(() => set(1));
    });
    const { settlement } = await conversation.settled(conversation.send("hello"));
    expect(settlement.error?.message).toContain('the setter of usePersistentState("n") outside of a running');
  });
});
