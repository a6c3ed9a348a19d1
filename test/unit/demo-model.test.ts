/** The embedded models. Source: contract RUNTIME 9 (`scripted/demo`, `scripted/test`). */
import type { AssistantMessage, Message, Tool } from "@earendil-works/pi-ai";
import { describe, expect, it } from "vitest";
import { resolveModel } from "../../durable-objects/models/resolve-model.ts";
import { registerScript } from "../../durable-objects/models/script.ts";
import { createSettings } from "./fixtures/settings.ts";
import { callsOf, play, result, textOf, user } from "./fixtures/transcript.ts";

const demo = resolveModel("scripted/demo", createSettings());

async function answer(messages: Message[], tools: Tool[] = []): Promise<AssistantMessage> {
  return (await play(demo, messages, {}, tools)).message;
}

/** Plays a conversation to its closing text; every call succeeds with `<name> result`. Gives the batches and the text. */
async function converse(
  messages: Message[],
): Promise<{ batches: unknown[][]; closing: string; transcript: Message[] }> {
  const transcript = [...messages];
  const batches: unknown[][] = [];
  for (let turn = 0; turn < 20; turn++) {
    const message = await answer(transcript);
    transcript.push(message);
    const calls = callsOf(message);
    if (calls.length === 0) return { batches, closing: textOf(message), transcript };
    batches.push(calls.map((call) => [call.name, call.arguments]));
    for (const call of calls) transcript.push(result(call.id, call.name, `${call.name} result`));
  }
  throw new Error("no closing text");
}

describe("scripted/demo", () => {
  it.each<[string, string, unknown]>([
    ["/read a.txt", "read", { path: "a.txt" }],
    ["/read a.txt 5", "read", { path: "a.txt", offset: 5 }],
    ["/read a.txt 5 10", "read", { path: "a.txt", offset: 5, limit: 10 }],
    ["/write a.txt hello  world ", "write", { path: "a.txt", content: "hello  world" }],
    ["/edit a.txt old text => new => text", "edit", { path: "a.txt", oldText: "old text", newText: "new => text" }],
    ["/bash echo 'a b' && { ls; }", "bash", { command: "echo 'a b' && { ls; }" }],
    ["/bash { echo x; }", "bash", { command: "{ echo x; }" }],
    ["/grep TODO", "grep", { pattern: "TODO" }],
    ["/grep TODO src dir", "grep", { pattern: "TODO", path: "src dir" }],
    ["/glob *.ts src", "glob", { pattern: "*.ts", path: "src" }],
    ["/task reviewer look at a.ts", "task", { agent: "reviewer", prompt: "look at a.ts" }],
    ["/skill pdf", "activate_skill", { name: "pdf" }],
    ['/bash {"command":"sleep 1","timeout":5}', "bash", { command: "sleep 1", timeout: 5 }],
    ['/write {"path":"a","content":"x\\ny"}', "write", { path: "a", content: "x\ny" }],
    ['/skill {"name":"pdf"}', "activate_skill", { name: "pdf" }],
  ])("turns %j into one call of %s", async (line, name, args) => {
    const message = await answer([user(line)]);
    expect(message.stopReason).toBe("toolUse");
    expect(callsOf(message).map((call) => [call.name, call.arguments])).toEqual([[name, args]]);
  });

  it("runs one line a turn and in order, joins lines with & in one batch, and reports at the end", async () => {
    const message = user("Please:\n/write a one\n/read a\n& /read b\n& /bash ls\n\n/bash pwd");
    const { batches, closing } = await converse([message]);
    expect(batches).toEqual([
      [["write", { path: "a", content: "one" }]],
      [
        ["read", { path: "a" }],
        ["read", { path: "b" }],
        ["bash", { command: "ls" }],
      ],
      [["bash", { command: "pwd" }]],
    ]);
    expect(closing).toBe(
      "Done: 5 calls.\n1. write: ok\nwrite result\n2. read: ok\nread result\n3. read: ok\nread result\n4. bash: ok\nbash result\n5. bash: ok\nbash result",
    );
  });

  it("says what /say tells it, at its place", async () => {
    const ask = user('/say first\n/bash ls\n/say {"text":"last"}');
    const turn = await answer([ask]);
    expect([textOf(turn), callsOf(turn)[0]?.name]).toEqual(["first", "bash"]);
    const { closing } = await converse([ask]);
    expect(closing).toBe("last\nDone: 1 call.\n1. bash: ok\nbash result");
    expect((await converse([user("/say only this")])).closing).toBe("only this");
  });

  it("reports failures as such and clips long results without cutting a character", async () => {
    const ask = user("/bash x");
    const turn = await answer([ask]);
    const id = callsOf(turn)[0]?.id ?? "";
    const closing = textOf(await answer([ask, turn, result(id, "bash", "🙂".repeat(500), true)]));
    expect(closing).toBe(`Done: 1 call.\n1. bash: error\n${"🙂".repeat(400)}…`);
    expect(closing.isWellFormed()).toBe(true);
  });

  it("lets broken JSON fail its validation instead of writing a file of that name", async () => {
    const message = await answer([user('/write {"path": "a",')]);
    expect(message.content[0]).toMatchObject({
      name: "write",
      arguments: {},
      argumentsError: expect.stringContaining("JSON"),
    });
  });

  it("gives any tool that was offered a JSON object, and takes no other word for a command", async () => {
    const tools: Tool[] = [{ name: "weather", description: "d", parameters: {} }];
    expect(callsOf(await answer([user('/weather {"city":"Oslo"}')], tools))[0]).toMatchObject({
      name: "weather",
      arguments: { city: "Oslo" },
    });
    for (const text of ['/weather {"city":"Oslo"}', "/toString x", "/constructor {}", "look at /bash ls", "/"]) {
      expect(callsOf(await answer([user(text)]))).toEqual([]);
    }
  });

  it("answers anything else with what it is and how to set a real model", async () => {
    const message = await answer([user("Hello!")]);
    expect(message.stopReason).toBe("stop");
    expect(textOf(message)).toMatch(/scripted\/demo/);
    expect(textOf(message)).toMatch(/BERTH_MODEL/);
  });

  it("is deterministic: the same transcript gives the same calls under the same ids", async () => {
    const ask = user("/bash a\n/bash b");
    expect(callsOf(await answer([ask]))).toEqual(callsOf(await answer([ask])));
  });

  it("never repeats an id in a conversation, for an id names one execution", async () => {
    const first = await converse([user("/bash a\n/bash b")]);
    const second = await converse([...first.transcript, user("/bash a")]);
    const ids = second.transcript
      .flatMap((message) => (message.role === "assistant" ? callsOf(message) : []))
      .map((call) => call.id);
    expect(ids).toHaveLength(3);
    expect(new Set(ids).size).toBe(3);
    for (const id of ids) expect(id).toMatch(/^[A-Za-z0-9_-]{1,40}$/);
  });

  it("does only the commands of the new message once an older one is answered", async () => {
    const { transcript } = await converse([user("/bash old")]);
    const next = await converse([...transcript, user("/bash new")]);
    expect(next.batches).toEqual([[["bash", { command: "new" }]]]);
    expect(next.closing).toMatch(/^Done: 1 call/);
  });

  it("keeps the rest of a response when a second message joins it", async () => {
    const ask = user("/bash one\n/bash two");
    const turn = await answer([ask]);
    const id = callsOf(turn)[0]?.id ?? "";
    const { batches } = await converse([ask, turn, result(id, "bash", "ok"), user("/read joined")]);
    expect(batches).toEqual([[["bash", { command: "two" }]], [["read", { path: "joined" }]]]);
  });

  it("drops the rest of a response that was aborted", async () => {
    const ask = user("/bash one\n/bash two");
    const turn = await answer([ask]);
    const id = callsOf(turn)[0]?.id ?? "";
    const aborted = user('<signal type="submission_aborted">\nAborted.\n</signal>');
    const { batches } = await converse([ask, turn, result(id, "bash", "cut", true), aborted, user("/read next")]);
    expect(batches).toEqual([[["read", { path: "next" }]]]);
  });

  it("is not led astray by signals that stand after the message", async () => {
    const signal = user('<signal type="resources" resource="skill">\n/bash evil\n</signal>');
    const { batches } = await converse([user("/bash one"), signal]);
    expect(batches).toEqual([[["bash", { command: "one" }]]]);
  });

  it("goes on with a closing text that was cut, without saying its beginning twice", async () => {
    const done = await converse([user("/bash one")]);
    const whole = done.closing;
    const cut = done.transcript.at(-1) as AssistantMessage;
    const partial: AssistantMessage = { ...cut, content: [{ type: "text", text: whole.slice(0, 9) }] };
    const signals = ["stream_interrupted", "stream_continued"].map((type) =>
      user(`<signal type="${type}">\n.\n</signal>`),
    );
    const rest = textOf(await answer([...done.transcript.slice(0, -1), partial, ...signals]));
    expect(whole.slice(0, 9) + rest).toBe(whole);
  });

  it("goes on at the right command when a compaction took the first calls away", async () => {
    const ask = user("/bash one\n/bash two\n/bash three");
    const transcript: Message[] = [ask];
    for (let n = 0; n < 2; n++) {
      const turn = await answer(transcript);
      transcript.push(turn, result(callsOf(turn)[0]?.id ?? "", "bash", "ok"));
    }
    const summary = user('<compaction type="context_summary">\n/bash one was run\n</compaction>');
    const { batches } = await converse([summary, ask, ...transcript.slice(3)]);
    expect(batches).toEqual([[["bash", { command: "three" }]]]);
  });

  it("streams its text in deltas that add up, framed as a provider's", async () => {
    const { events, message } = await play(demo, [user(`/say ${"🙂 long text ".repeat(20)}`)]);
    const deltas = events.flatMap((event) => (event.type === "text_delta" ? [event.delta] : []));
    expect(deltas.length).toBeGreaterThan(3);
    expect(deltas.join("")).toBe(textOf(message));
    expect(deltas.every((delta) => delta.isWellFormed())).toBe(true);
    const kinds = events.map((event) => event.type);
    expect([kinds[0], kinds[1], kinds.at(-2), kinds.at(-1)]).toEqual(["start", "text_start", "text_end", "done"]);
  });

  it("ends aborted when the request was", async () => {
    const { message } = await play(demo, [user("/bash ls")], { signal: AbortSignal.abort() });
    expect(message.stopReason).toBe("aborted");
    expect(message.content).toEqual([]);
  });
});

describe("scripted/test", () => {
  const settings = createSettings();

  it("takes its turns from the script, in order, and fails when it is used up", async () => {
    registerScript("test-order", [
      { thinking: "hm", text: "one", calls: [{ id: "c1", name: "bash", arguments: { command: "ls" } }] },
      (messages) => ({ text: `saw ${messages.length}`, inputTokens: 77 }),
      { text: "cut", stopReason: "length" },
      { stopReason: "error", errorMessage: "overloaded_error" },
    ]);
    const model = resolveModel("scripted/test-order", settings);
    const turns: AssistantMessage[] = [];
    for (let n = 0; n < 5; n++) turns.push((await play(model, [user("x")])).message);
    expect(turns.map((turn) => turn.stopReason)).toEqual(["toolUse", "stop", "length", "error", "error"]);
    expect(turns[0]?.content.map((part) => part.type)).toEqual(["thinking", "text", "toolCall"]);
    expect(turns[1]?.usage.input).toBe(77);
    expect(turns[4]?.errorMessage).toContain("used up");
  });

  it("holds a turn back until its gate opens", async () => {
    const gate = Promise.withResolvers<void>();
    registerScript("test-gate", [{ text: "now", gate: gate.promise }]);
    let ended = false;
    const playing = play(resolveModel("scripted/test-gate", settings), [user("x")]).finally(() => {
      ended = true;
    });
    await new Promise((resolve) => setTimeout(resolve, 5));
    expect(ended).toBe(false);
    gate.resolve();
    expect(textOf((await playing).message)).toBe("now");
  });

  it("lets an abort through a closed gate", async () => {
    registerScript("test-abort", [{ text: "never", gate: new Promise(() => {}) }]);
    const controller = new AbortController();
    const playing = play(resolveModel("scripted/test-abort", settings), [user("x")], { signal: controller.signal });
    controller.abort();
    expect((await playing).message.stopReason).toBe("aborted");
  });
});
