/** The embedded model under pi's own loop: what the engine will do with it. Source: contract RUNTIME 9. */
import { type AgentMessage, runAgentLoop } from "@earendil-works/pi-agent-core";
import type { Message } from "@earendil-works/pi-ai";
import { describe, expect, it } from "vitest";
import { Type } from "../../durable-objects/agent/index.ts";
import { toProviderMessages } from "../../durable-objects/models/provider-messages.ts";
import { resolveModel } from "../../durable-objects/models/resolve-model.ts";
import { defineTool } from "../../durable-objects/tools/define-tool.ts";
import { createSettings } from "./fixtures/settings.ts";
import { user } from "./fixtures/transcript.ts";

function bash(seen: string[]) {
  return defineTool({
    name: "bash",
    label: "Run Command",
    description: "d",
    parameters: Type.Object({ command: Type.String() }),
    replayPolicy: "reattach",
    async run({ args }) {
      seen.push(args.command);
      return { text: args.command === "true" ? "" : `ran ${args.command}`, details: {} };
    },
  });
}

/** Runs a message to the end of its response; gives what was sent last and what was said. */
async function respond(
  text: string,
  seen: string[],
): Promise<{ produced: AgentMessage[]; sent: Message[]; closing: string }> {
  const { model, stream } = resolveModel("scripted/demo", createSettings());
  let sent: Message[] = [];
  const convertToLlm = (messages: AgentMessage[]) => {
    sent = toProviderMessages(messages as Message[]);
    return sent;
  };
  const produced = await runAgentLoop(
    [user(text)],
    { messages: [], tools: [bash(seen)] },
    { model, convertToLlm },
    () => {},
    undefined,
    stream,
  );
  const last = produced.at(-1);
  const content = last?.role === "assistant" ? last.content : [];
  return { produced, sent, closing: content.map((part) => (part.type === "text" ? part.text : "")).join("") };
}

describe("scripted/demo under the loop", () => {
  it("runs its commands in order and ends with the report", async () => {
    const seen: string[] = [];
    const { closing } = await respond("/bash one\n/bash two\n& /bash three", seen);
    expect(seen).toEqual(["one", "two", "three"]);
    expect(closing).toBe("Done: 3 calls.\n1. bash: ok\nran one\n2. bash: ok\nran two\n3. bash: ok\nran three");
  });

  it("reports a tool that is not there and arguments that could not be read, and goes on", async () => {
    const seen: string[] = [];
    const { closing } = await respond('/read x\n/bash {"command":5}\n/write {"path":\n/bash last', seen);
    expect(seen).toEqual(["5", "last"]);
    expect(closing).toContain("1. read: error\nTool read not found");
    expect(closing).toContain("2. bash: ok\nran 5");
    expect(closing).toContain("3. write: error");
    expect(closing).toContain("4. bash: ok\nran last");
  });

  it("is sent (empty) for an empty result, which the transcript keeps empty", async () => {
    const { produced, sent, closing } = await respond("/bash true", []);
    const kept = produced.find((message) => message.role === "toolResult");
    const shown = sent.find((message) => message.role === "toolResult");
    expect(kept).toMatchObject({ content: [{ type: "text", text: "" }] });
    expect(shown).toMatchObject({ content: [{ type: "text", text: "(empty)" }] });
    expect(closing).toBe("Done: 1 call.\n1. bash: ok\n(empty)");
  });
});
