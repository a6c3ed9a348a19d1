import type { AssistantMessage } from "@earendil-works/pi-ai";
import { describe, expect, it } from "vitest";
import { makeCallIdsUnique } from "../../durable-objects/conversation/turn/call-ids.ts";

function messageWith(...ids: string[]): AssistantMessage {
  const content = ids.map((id) => ({ type: "toolCall" as const, id, name: "bash", arguments: {} }));
  const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 };
  const usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0, cost };
  return {
    role: "assistant",
    content,
    api: "a",
    provider: "p",
    model: "m",
    usage,
    stopReason: "toolUse",
    timestamp: 0,
  };
}

function idsAfter(message: AssistantMessage, taken: readonly string[] = []): string[] {
  let n = 0;
  makeCallIdsUnique(message, (id) => taken.includes(id), { next: (prefix) => `${prefix}_new${n++}` });
  return message.content.map((part) => (part.type === "toolCall" ? part.id : ""));
}

describe("tool-call ids", () => {
  it("stay as they are when they are fine, so that a provider meets its own again", () => {
    expect(idsAfter(messageWith("c1", "toolu_01-x"))).toEqual(["c1", "toolu_01-x"]);
  });

  it("are replaced when the conversation has had them, so that no call gets another's outcome", () => {
    expect(idsAfter(messageWith("c1", "c2"), ["c1"])).toEqual(["call_new0", "c2"]);
  });

  it("are told apart within one batch", () => {
    expect(idsAfter(messageWith("c", "c", "c"))).toEqual(["c", "call_new0", "call_new1"]);
  });

  it("are replaced when a provider would refuse them: empty, odd characters, above 40", () => {
    const ids = idsAfter(messageWith("", "a|b c", "x".repeat(41), "x".repeat(40)));
    expect(ids).toEqual(["call_new0", "call_new1", "call_new2", "x".repeat(40)]);
  });
});
