/** What an agent's hooks come to in a conversation, crash or not. Source: contract RUNTIME 2.4, 2.5, 2.7, 4. */
import { describe, expect, it } from "vitest";
import type { Agent } from "../../durable-objects/agent/agent.ts";
import {
  Type,
  useAgentFinish,
  useAgentStart,
  useDelivery,
  useDispatchMessage,
  useInitialData,
  useModel,
  usePersistentState,
  useTool,
} from "../../durable-objects/agent/index.ts";
import type { DeliveredMessage } from "../../durable-objects/protocol/submission.ts";
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

/** Calls each tool named in the message once, in one batch, and then answers. */
const callWhatIsAsked: Model = (request) =>
  request.at(-1)?.startsWith("call ")
    ? (request.at(-1) ?? "")
        .slice(5)
        .split(" ")
        .map((name) => ({ name }))
    : "done";

describe("useInitialData and useDelivery in a conversation", () => {
  it("give what it was created with, and the message in front of the model", async () => {
    const seen: unknown[] = [];
    const conversation = open(() => {
      seen.push([useInitialData(), useDelivery()]);
    });
    await conversation.settled(conversation.send("one", { plan: "free" }));
    expect(new Set(seen.map((pair) => JSON.stringify(pair)))).toEqual(
      new Set(['[{"plan":"free"},{"kind":"user","body":"one"}]']),
    );
  });

  it("are there for an agent whose data is optional when its conversation is made without any", async () => {
    const seen: unknown[] = [];
    const statics = { initialData: Type.Optional(Type.Object({ plan: Type.String() })) };
    const conversation = open(() => void seen.push(useInitialData()), undefined, statics);
    expect(() => conversation.send("one", { plan: 1 })).toThrow('"initialData" is not valid: plan: Expected string.');
    await conversation.settled(conversation.send("one"));
    expect(new Set(seen)).toEqual(new Set([undefined]));
  });

  it("follow the messages that join and the signals that hooks append, in the model's order", async () => {
    const starts: string[] = [];
    let conversation: Conversation;
    const model: Model = (request) => {
      if (request.length === 1) conversation.send({ kind: "signal", type: "ping", body: "two" });
      return "said";
    };
    let last: DeliveredMessage | undefined;
    conversation = open(() => {
      const delivery = useDelivery();
      last = delivery;
      const [n, setN] = usePersistentState("n", 0);
      useAgentStart(() => void starts.push(delivery.body));
      useAgentFinish(({ append }) => {
        if (n === 0) append({ kind: "signal", type: "again", body: "three" });
        setN(1);
      });
    }, model);
    await conversation.settled(conversation.send("one"));
    expect(starts).toEqual(["one", "two"]);
    expect(last).toEqual({ kind: "signal", type: "again", body: "three" });
  });
});

describe("usePersistentState in a conversation", () => {
  it("keeps what a call wrote, with its result, for the renders after it and for ever", async () => {
    const seen: unknown[] = [];
    const conversation = open(() => {
      const [n, set] = usePersistentState("n", 0);
      seen.push(n);
      useTool({ name: "up", description: "d", run: () => set((before) => before + 1) });
    }, callWhatIsAsked);
    await conversation.settled(conversation.send("call up up up"));
    expect(conversation.state("n")).toBe(3);
    conversation.crash();
    conversation.restart();
    await conversation.settled(conversation.send("and?"));
    expect([seen[0], seen.at(-1)]).toEqual([0, 3]);
  });

  it("keeps what a call wrote that then threw: its error is its result", async () => {
    const conversation = open(() => {
      const [, set] = usePersistentState("n", 0);
      const run = () => {
        set(1);
        throw new Error("no");
      };
      useTool({ name: "fail", description: "d", run });
    }, callWhatIsAsked);
    await conversation.settled(conversation.send("call fail"));
    expect(conversation.state("n")).toBe(1);
  });

  it("forgets what a call wrote that a crash cut, and keeps what its neighbour wrote", async () => {
    const cut = Promise.withResolvers<void>();
    const conversation = open(() => {
      const [, setA] = usePersistentState("a", "none");
      const [, setB] = usePersistentState("b", "none");
      useTool({ name: "ends", description: "d", run: () => setA("written") });
      const run = async () => {
        setB("written");
        cut.resolve();
        await new Promise(() => {});
      };
      useTool({ name: "hangs", description: "d", run });
    }, callWhatIsAsked);
    const id = conversation.send("call ends hangs");
    await cut.promise;
    await expect.poll(() => typesOf(conversation)).toContain("tool_result");
    conversation.crash();
    conversation.restart();
    await conversation.settled(id);
    expect([conversation.state("a"), conversation.state("b")]).toEqual(["written", undefined]);
  });

  it("forgets what a call wrote that an abort cut", async () => {
    const cut = Promise.withResolvers<void>();
    const conversation = open(() => {
      const [, set] = usePersistentState("n", 0);
      const run = async () => {
        set(1);
        cut.resolve();
        await new Promise(() => {});
      };
      useTool({ name: "hangs", description: "d", run });
    }, callWhatIsAsked);
    const id = conversation.send("call hangs");
    await cut.promise;
    conversation.abort();
    expect((await conversation.settled(id)).settlement.outcome).toBe("aborted");
    expect(conversation.state("n")).toBeUndefined();
  });

  it("refuses a write that comes after its call has ended", async () => {
    const late = Promise.withResolvers<unknown>();
    const conversation = open(() => {
      const [, set] = usePersistentState("n", 0);
      const run = () => {
        void new Promise((resolve) => setTimeout(resolve, 5)).then(() => set(1)).catch(late.resolve);
      };
      useTool({ name: "stray", description: "d", run });
    }, callWhatIsAsked);
    await conversation.settled(conversation.send("call stray"));
    expect(String(await late.promise)).toContain(
      'the setter of usePersistentState("n") outside of a running tool call',
    );
    expect(conversation.state("n")).toBeUndefined();
  });
});

describe("useDispatchMessage in a conversation", () => {
  it("admits to this conversation: the message joins the response and is started like any other", async () => {
    const starts: string[] = [];
    const requests: string[][] = [];
    const receipts: unknown[] = [];
    const conversation = open(
      () => {
        const delivery = useDelivery();
        const dispatch = useDispatchMessage();
        useAgentStart(async () => {
          starts.push(delivery.body);
          if (delivery.kind === "user")
            receipts.push(await dispatch({ kind: "signal", type: "note", body: "to self" }));
        });
      },
      (request) => {
        requests.push(request);
        return "done";
      },
    );
    const id = conversation.send("hello");
    await conversation.settled(id);
    expect(starts).toEqual(["hello", "to self"]);
    expect(requests).toEqual([["hello", '<signal type="note">\nto self\n</signal>']]);
    const { conversationId: uid, settlements } = await conversation.snapshot();
    expect(receipts).toEqual([
      { submissionId: expect.stringMatching(/^sub_/), acceptedAt: expect.stringMatching(/^\d{4}-.*Z$/), uid },
    ]);
    expect(settlements).toContainEqual(expect.objectContaining({ outcome: "completed", answeredBySubmissionId: id }));
  });
});
