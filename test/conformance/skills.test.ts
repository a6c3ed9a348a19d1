/** Skills of a shipped agent over the wire, packed by the build as every deployment's are. Source: contract RUNTIME 8. */
import { describe, expect, inject, it } from "vitest";
import { openConversation } from "../wire/conversation-client.ts";

const baseUrl = inject("berthUrl");

interface ToolPart {
  toolName: string;
  state: string;
  output?: unknown;
}

/** The outputs of a message's calls, in order. */
async function run(conversation: ReturnType<typeof openConversation>, body: string): Promise<ToolPart[]> {
  const { submissionId } = await conversation.send(body);
  expect((await conversation.settled(submissionId)).outcome).toBe("completed");
  const { messages } = await conversation.history();
  const own = messages.filter((message) => message.role === "assistant" && message.submissionId === submissionId);
  return own.flatMap(({ parts }) => parts.filter((part) => part.type === "dynamic-tool"));
}

describe("an agent's skills", () => {
  it("are activated by name, and their files are read by the path the activation tells", async () => {
    const conversation = openConversation(baseUrl, "reviewer");
    const [packaged, defined] = await run(conversation, "/skill review-changes\n/skill commit-messages");
    expect(packaged).toMatchObject({ toolName: "activate_skill", state: "output-available" });
    expect(JSON.stringify(packaged?.output)).toContain("# Review changes");
    expect(JSON.stringify(defined?.output)).toContain("Two ideas are two commits.");

    const [path = ""] =
      /\/\.flue\/packaged-skills\/[^\s"\\]+checklist\.md/.exec(JSON.stringify(packaged?.output)) ?? [];
    const [byTool, byRead] = await run(conversation, `/read_skill_resource {"path":"${path}"}\n/read ${path}`);
    for (const read of [byTool, byRead]) {
      expect(read).toMatchObject({ state: "output-available" });
      expect(JSON.stringify(read?.output)).toContain("# Checklist by kind of change");
    }
  });
});
