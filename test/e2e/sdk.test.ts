/** The public client, `@flue/sdk` as it comes from npm, against a real Berth. */
import { createFlueClient, type FlueConversationState, FlueExecutionError, readSubmissionReply } from "@flue/sdk";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { scriptToken } from "../model-server/script.ts";
import { freshId } from "../wire/conversation-client.ts";
import { type ScriptedBerth, startScriptedBerth } from "./scripted-berth.ts";

let scripted: ScriptedBerth;
beforeAll(async () => {
  scripted = await startScriptedBerth();
});
afterAll(() => scripted.stop());

function openClient(agent: string) {
  return createFlueClient({ url: `${scripted.berth.baseUrl}/agents/${agent}/${freshId()}` });
}

function user(body: string) {
  return { message: { kind: "user" as const, body } };
}

async function failureOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => undefined,
    (error: unknown) => (error instanceof FlueExecutionError ? error.failure : error),
  );
}

describe("the public client", () => {
  it("sends, waits, reads and gets the history", async () => {
    const { model } = scripted;
    model.script("hello", [{ text: ["hel", "lo ", "there"] }]);
    const client = openClient("assistant");
    const receipt = await client.send(user(`hi ${scriptToken("hello")}`));
    const seen: string[] = [];
    await client.wait(receipt, {
      onEvent: (chunk) => {
        seen.push(chunk.type);
      },
    });
    expect(seen).toEqual(expect.arrayContaining(["message-appended", "message-completed", "submission-settled"]));
    expect((await client.read(receipt)).text).toBe("hello there");
    expect((await client.read(receipt.submissionId)).text).toBe("hello there");
    const history = await client.history();
    expect(history.v).toBe(1);
    expect(readSubmissionReply(history, receipt.submissionId).text).toBe("hello there");
  });

  it.each(["sse", "long-poll"] as const)("observes a response while it comes, by %s", async (live) => {
    const { model } = scripted;
    const key = `observe-${live}`;
    const tool = Promise.withResolvers<void>();
    const text = Promise.withResolvers<void>();
    model.script(key, [
      { calls: [{ id: "c1", name: "bash", arguments: { command: "echo seen" } }] },
      { pause: { gate: tool.promise }, text: ["half", { gate: text.promise }, " and half"] },
    ]);
    const client = openClient("coder");
    const receipt = await client.send(user(`go ${scriptToken(key)}`));
    const observation = client.observe({ live });
    const seen = () => observation.getSnapshot().conversation;
    observation.subscribe(() => {});

    await expect.poll(() => partsOf(seen()).some((part) => part.type === "dynamic-tool")).toBe(true);
    tool.resolve();
    await expect
      .poll(() => partsOf(seen()).some((part) => part.type === "text" && part.state === "streaming"))
      .toBe(true);
    text.resolve();
    await client.wait(receipt);
    await expect.poll(() => seen()?.settlements.length).toBe(1);

    const { messages } = await client.history();
    const content = (list: typeof messages | undefined) => list?.map(({ id, role, parts }) => ({ id, role, parts }));
    expect(content(seen()?.messages)).toEqual(content(messages));
    expect(observation.getSnapshot().phase).toBe("live");
    observation.close();
    expect(observation.getSnapshot().phase).toBe("closed");
  });

  it("keeps observing over a kill -9 and a restart, and shows nothing twice", async () => {
    const { berth, model } = scripted;
    model.script("crash", [{ text: "one" }, { text: "two" }]);
    const client = openClient("assistant");
    await client.wait(await client.send(user(`a ${scriptToken("crash")}`)));
    const backoffOptions = { initialDelay: 50, maxDelay: 200, multiplier: 1.5, maxRetries: 200 };
    const observation = client.observe({ live: "sse", backoffOptions });
    observation.subscribe(() => {});
    await expect.poll(() => observation.getSnapshot().phase).toBe("live");
    await berth.kill();
    await berth.restart();
    const second = await client.send(user(`b ${scriptToken("crash")}`));
    await expect.poll(() => observation.getSnapshot().conversation?.settlements.length).toBe(2);
    const conversation = observation.getSnapshot().conversation;
    expect(conversation?.messages).toHaveLength(4);
    expect(conversation && readSubmissionReply(conversation, second.submissionId).text).toBe("two");
    observation.close();
  });

  it("aborts what runs and what waits; every waiter learns of it", async () => {
    const { model } = scripted;
    model.script("abort", [
      { calls: [{ id: "c1", name: "bash", arguments: { command: "sleep 60" } }] },
      { text: "after" },
    ]);
    const client = openClient("coder");
    const running = await client.send(user(`a ${scriptToken("abort")}`));
    await model.waitForRequest("abort", 1, "answered");
    const queued = await client.send(user("b"));
    expect(await client.abort()).toEqual({ aborted: true });
    expect(await failureOf(client.wait(running))).toBe("aborted");
    expect(await failureOf(client.wait(queued))).toBe("aborted");
    expect(await client.abort()).toEqual({ aborted: false });
    const next = await client.send(user(`c ${scriptToken("abort")}`));
    expect((await client.read(next)).text).toBe("after");
    expect(model.problemsOf("abort")).toEqual([]);
  });

  it("is told of a failure by wait", async () => {
    const { model } = scripted;
    model.script("fail", [{ fault: { kind: "http", status: 400 } }]);
    const client = openClient("assistant");
    expect(await failureOf(client.wait(await client.send(user(`x ${scriptToken("fail")}`))))).toBe("failed");
  });
});

function partsOf(conversation: FlueConversationState | undefined) {
  return conversation?.messages.flatMap((message) => message.parts) ?? [];
}
