/** The start of work on each message, crash or not. Source: contract RUNTIME 2.5, 2.8, 4. */
import { describe, expect, it } from "vitest";
import type { Agent } from "../../durable-objects/agent/agent.ts";
import {
  type AgentStartContext,
  useAgentStart,
  useInstruction,
  useModel,
  usePersistentState,
} from "../../durable-objects/agent/index.ts";
import { type Conversation, type Model, openConversation } from "./fixtures/conversation.ts";
import { nodeDatabase } from "./node-database.ts";

function open(body: () => void, model: Model = () => "done", statics: Partial<Agent> = {}): Conversation {
  const agent: Agent = () => {
    useModel("scripted/demo");
    body();
    return undefined;
  };
  return openConversation(nodeDatabase(), Object.assign(agent, statics), model);
}

function typesOf(conversation: Conversation): string[] {
  return conversation.records().map(({ body }) => body.type);
}

describe("useAgentStart in a conversation", () => {
  it("runs before the model reads the message; its signals stand in declaration order, whoever ends first", async () => {
    const requests: string[][] = [];
    const say = (context: AgentStartContext, body: string) => context.append({ kind: "signal", type: "note", body });
    const conversation = open(
      () => {
        useAgentStart(async (context) => {
          await new Promise((resolve) => setTimeout(resolve, 5));
          say(context, "slow");
        });
        useAgentStart((context) => say(context, "quick"));
      },
      (request) => {
        requests.push(request);
        return "done";
      },
    );
    await conversation.settled(conversation.send("hello"));
    expect(requests[0]?.map((text) => text.split("\n")[1] ?? text)).toEqual(["hello", "slow", "quick"]);
  });

  it("takes effect once when a crash comes before the model has answered", async () => {
    let [runs, isCut] = [0, false];
    const asked = Promise.withResolvers<void>();
    const conversation = open(
      () => {
        const [, set] = usePersistentState("starts", 0);
        useAgentStart(({ append }) => {
          runs++;
          set((before) => before + 1);
          append({ kind: "signal", type: "note", body: "started" });
        });
      },
      () => {
        asked.resolve();
        return isCut ? "done" : new Promise<string>(() => {});
      },
    );
    const id = conversation.send("hello");
    await asked.promise;
    conversation.crash();
    isCut = true;
    conversation.restart();
    await conversation.settled(id);
    expect([runs, conversation.state("starts")]).toEqual([1, 1]);
    expect(typesOf(conversation).filter((type) => type === "agent_start_run")).toHaveLength(1);
  });

  it("runs again as a whole when a crash cut it, and leaves what it wrote once", async () => {
    let runs = 0;
    const cut = Promise.withResolvers<void>();
    const conversation = open(() => {
      const [, set] = usePersistentState("starts", 0);
      useAgentStart(async ({ append }) => {
        set((before) => before + 1);
        append({ kind: "signal", type: "note", body: "started" });
        if (++runs > 1) return;
        cut.resolve();
        await new Promise(() => {});
      });
    });
    const id = conversation.send("hello");
    await cut.promise;
    conversation.crash();
    conversation.restart();
    await conversation.settled(id);
    expect([runs, conversation.state("starts")]).toEqual([2, 1]);
    expect(typesOf(conversation).filter((type) => type === "signal")).toHaveLength(1);
  });

  it("fails the submission when it throws, names agent and hook, and leaves nothing of its sibling's", async () => {
    const conversation = open(() => {
      const [, set] = usePersistentState("n", 0);
      useAgentStart(async ({ signal }) => {
        set(1);
        await new Promise((resolve) => signal.addEventListener("abort", resolve));
      });
      useAgentStart(() => {
        throw new Error("secret");
      });
    });
    const { settlement } = await conversation.settled(conversation.send("hello"));
    expect(settlement).toMatchObject({ outcome: "failed", error: { type: "operation_failed" } });
    expect(settlement.error?.message).toBe('Agent "tester": a callback of useAgentStart() threw. The log says more.');
    expect(conversation.reports.join()).toContain("secret");
    expect(conversation.state("n")).toBeUndefined();
  });

  it("fails the submission when it calls a hook, and names agent and both hooks", async () => {
    const conversation = open(() => useAgentStart(() => useInstruction("too late")));
    const { settlement } = await conversation.settled(conversation.send("hello"));
    expect(settlement.error?.message).toMatch(
      /^Agent "tester", in a callback of useAgentStart\(\): useInstruction\(\) was called outside the render/,
    );
  });

  it("cannot hold an abort up", async () => {
    const cut = Promise.withResolvers<void>();
    const conversation = open(() => {
      useAgentStart(async () => {
        cut.resolve();
        await new Promise(() => {});
      });
    });
    const id = conversation.send("hello");
    await cut.promise;
    conversation.abort();
    expect((await conversation.settled(id)).settlement.outcome).toBe("aborted");
  });

  it.each<[unknown, string]>([
    [{ kind: "user", body: "x" }, "only signals can be appended"],
    [{ kind: "signal", type: "resources", body: "x" }, "reserved for the runtime"],
    [{ kind: "signal", type: "x", body: "x", attributes: { a: 1 } }, '"attributes.a" is not valid'],
  ])("refuses to append %j", async (message, text) => {
    const conversation = open(() => useAgentStart(({ append }) => append(message as never)));
    const { settlement } = await conversation.settled(conversation.send("hello"));
    expect(settlement.error?.message).toContain('Agent "tester" misused append of useAgentStart(): ');
    expect(settlement.error?.message).toContain(text);
  });

  it("refuses an append after its callback", async () => {
    let kept: AgentStartContext | undefined;
    const conversation = open(() => {
      useAgentStart((context) => {
        kept = context;
      });
    });
    await conversation.settled(conversation.send("hello"));
    expect(() => kept?.append({ kind: "signal", type: "x", body: "late" })).toThrow(/after its callback had ended/);
  });
});
