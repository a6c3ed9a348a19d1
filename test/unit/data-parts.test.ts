/** Data parts of a response: durable, in their place, the same for every reader. Source: contract RUNTIME 1.7, 1.8, 4. */
import { describe, expect, it } from "vitest";
import type { Agent } from "../../durable-objects/agent/agent.ts";
import {
  Type,
  useAgentStart,
  useDataWriter,
  useModel,
  usePersistentState,
  useTool,
} from "../../durable-objects/agent/index.ts";
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

describe("data parts of a response", () => {
  it("stand where they were first written, are changed in place, and are durable at once", async () => {
    const halfway = Promise.withResolvers<void>();
    const goOn = Promise.withResolvers<void>();
    const model: Model = (request) => (request.length === 1 ? [{ name: "work" }] : "done");
    const conversation = open(() => {
      const report = useDataWriter("progress", { schema: Type.Object({ done: Type.Integer() }) });
      const run = async () => {
        report({ done: 1 });
        halfway.resolve();
        await goOn.promise;
        report({ done: 2 });
      };
      useTool({ name: "work", description: "d", run });
    }, model);
    const id = conversation.send("hello");
    await halfway.promise;
    const partsOf = async () => (await conversation.snapshot()).messages.at(-1)?.parts.map(({ type }) => type);
    expect(await partsOf()).toEqual(["dynamic-tool", "data-progress"]);
    goOn.resolve();
    const { message } = await conversation.settled(id);
    expect(message?.parts.map(({ type }) => type)).toEqual(["dynamic-tool", "data-progress", "text"]);
    expect(message?.parts).toContainEqual({ type: "data-progress", data: { done: 2 } });
    const folded = foldChunks((await conversation.chunks()) as WireChunk[]);
    expect(folded.messages).toEqual((await conversation.snapshot()).messages);
  });

  it("show the response before its first step, to those who read along and in the snapshot", async () => {
    const conversation = open(() => {
      const write = useDataWriter("plan");
      useAgentStart(() => write(["first"]));
    });
    await conversation.settled(conversation.send("hello"));
    const chunks = (await conversation.chunks()) as WireChunk[];
    const kinds = chunks.map(({ type }) => type);
    expect(kinds.indexOf("message-started")).toBeLessThan(kinds.indexOf("data-part"));
    const { messages } = await conversation.snapshot();
    expect(messages.at(-1)?.parts.map(({ type }) => type)).toEqual(["data-plan", "text"]);
    expect(foldChunks(chunks).messages).toEqual(messages);
  });

  it("never reach the model", async () => {
    const requests: string[][] = [];
    const conversation = open(
      () => {
        const write = useDataWriter("plan");
        useAgentStart(() => write("unseen"));
      },
      (request) => {
        requests.push(request);
        return "done";
      },
    );
    await conversation.settled(conversation.send("hello"));
    expect(requests).toEqual([["hello"]]);
  });

  it("may not come and go between renders: the fault names what was added and removed", async () => {
    const model: Model = (request) => (request.length === 1 ? [{ name: "flip" }] : "done");
    const conversation = open(() => {
      const [isFlipped, set] = usePersistentState("flipped", false);
      useDataWriter("kept");
      useDataWriter(isFlipped ? "b" : "a");
      useTool({ name: "flip", description: "d", run: () => set(true) });
    }, model);
    const { settlement } = await conversation.settled(conversation.send("hello"));
    expect(settlement.error?.message).toBe(
      'Agent "tester" misused useDataWriter(): a render added "b" and removed "a". Declare the same names in every render.',
    );
  });
});
