/** What agent code writes inside a scratch conversation, and harnesses of hooks. Source: contract RUNTIME 4. */
import { describe, expect, it } from "vitest";
import {
  type Agent,
  defineTool,
  Type,
  useAgentFinish,
  useAgentStart,
  useModel,
  usePersistentState,
  useTool,
} from "../../../durable-objects/agent/index.ts";
import { type Model, openConversation } from "../fixtures/conversation.ts";
import { nodeDatabase } from "../node-database.ts";

/** Plays the root by its last message, and the scratch conversation, which begins with `scratch`. */
const model: Model = (request) => {
  const isScratch = request[0] === "scratch";
  if (request.at(-1) === "go") return [{ name: "outer" }];
  if (isScratch && request.length === 1) return [{ name: "note", arguments: { text: "inner" } }];
  return isScratch ? "scratch done" : "root done";
};

const keeper: Agent = () => {
  useModel("test/test");
  const [, setNote] = usePersistentState<string>("note");
  const note = defineTool({
    name: "note",
    description: "Keeps a note.",
    input: Type.Object({ text: Type.String() }),
    run({ data }) {
      setNote(data.text);
      return "noted";
    },
  });
  useTool({
    name: "outer",
    description: "Has a note kept in a scratch conversation.",
    harness: true,
    async run({ harness }) {
      const { text } = await harness.prompt("scratch", { tools: [note] });
      return text;
    },
  });
  return "Test.";
};

describe("a tool of a scratch conversation", () => {
  it("writes state with the result of the call whose harness it runs in", async () => {
    const conversation = openConversation(nodeDatabase(), keeper, model);
    const { settlement } = await conversation.settled(conversation.send("go"));
    expect(settlement.outcome).toBe("completed");
    expect(conversation.state("note")).toBe("inner");
  });

  it("has written nothing when that call is cut before its result", async () => {
    const db = nodeDatabase();
    let reached: () => void = () => {};
    const isInScratch = new Promise<void>((resolve) => {
      reached = resolve;
    });
    const hanging: Model = async (request) => {
      if (request[0] === "scratch" && request.length > 1) {
        reached();
        await new Promise(() => {});
      }
      return model(request);
    };
    const conversation = openConversation(db, keeper, hanging);
    const id = conversation.send("go");
    await isInScratch;
    conversation.crash();
    conversation.restart();
    await conversation.settled(id);
    expect(conversation.state("note")).toBeUndefined();
  });
});

describe("a harness of a hook", () => {
  it("asks the model before the message is read, and again where the response would end", async () => {
    const asked: string[] = [];
    const agent: Agent = () => {
      useModel("test/test");
      useAgentStart(async ({ harness, append }) => {
        const { text } = await harness.prompt("scratch of start");
        append({ kind: "signal", type: "start", body: text });
      });
      useAgentFinish(async ({ harness, response, append }) => {
        if (response.usage.totalTokens > 60) return;
        append({ kind: "signal", type: "finish", body: (await harness.prompt("scratch of finish")).text });
      });
      return "Test.";
    };
    const conversation = openConversation(nodeDatabase(), agent, (request) => {
      asked.push(request.join(" | "));
      return `answer ${asked.length}`;
    });
    const { settlement } = await conversation.settled(conversation.send("hello"));
    expect(settlement.outcome).toBe("completed");
    expect(asked).toEqual([
      "scratch of start",
      'hello | <signal type="start">\nanswer 1\n</signal>',
      "scratch of finish",
      'hello | <signal type="start">\nanswer 1\n</signal> | answer 2 | <signal type="finish">\nanswer 3\n</signal>',
      "scratch of finish",
      expect.stringContaining("answer 5"),
    ]);
  });

  it("ends with its callback", async () => {
    let kept: { prompt(text: string): Promise<unknown> } | undefined;
    const agent: Agent = () => {
      useModel("test/test");
      useAgentStart(({ harness }) => {
        kept = harness;
      });
      return "Test.";
    };
    const conversation = openConversation(nodeDatabase(), agent, () => "done");
    await conversation.settled(conversation.send("hello"));
    expect(() => kept?.prompt("later")).toThrow(/used its harness after its call had ended/);
  });
});
