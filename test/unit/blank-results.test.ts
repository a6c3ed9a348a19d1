/** Blank tool results on their way to a chat-completions server. Source: contract RUNTIME 9. */
import type { Message } from "@earendil-works/pi-ai";
import { describe, expect, it } from "vitest";
import { keepBlankResults } from "../../durable-objects/models/chat-completions.ts";

function resultOf(toolCallId: string, ...texts: string[]): Message {
  return {
    role: "toolResult",
    toolCallId,
    toolName: "bash",
    content: texts.map((text) => ({ type: "text", text })),
    isError: false,
    timestamp: 0,
  };
}

/** What is sent of results after pi has put its own words in place of blank ones. */
function send(...results: Message[]): unknown[] {
  const messages = results.map((result) => ({
    role: "tool",
    tool_call_id: result.role === "toolResult" ? result.toolCallId : "",
    content: "(no tool output)",
  }));
  const sent = keepBlankResults({ messages }, results) as { messages: { content: unknown }[] };
  return sent.messages.map(({ content }) => content);
}

describe("a tool result that is blank", () => {
  it("is sent as it is where there is something of it", () => {
    expect(send(resultOf("a", "\n"), resultOf("b", " ", "\t"))).toEqual(["\n", " \n\t"]);
  });

  it("is never sent as nothing", () => {
    expect(send(resultOf("a", ""), resultOf("b"))).toEqual(["(no tool output)", "(no tool output)"]);
  });
});
