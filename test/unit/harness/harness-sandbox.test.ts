/** The sandbox of a harness, its shell, and the tools of its conversation. Source: contract RUNTIME 4, 2.7; TOOLS 12, 14.4. */
import type { Message } from "@earendil-works/pi-ai";
import { describe, expect, it } from "vitest";
import type { Sandbox, SandboxFactory } from "../../../containers/sandbox.ts";
import { sandboxIdentity } from "../../../containers/sandbox-identity.ts";
import { useSandbox, useTool } from "../../../durable-objects/agent/index.ts";
import { MAX_PARALLEL_TOOLS } from "../../../durable-objects/protocol/limits.ts";
import { isRecordOf, ROOT_THREAD } from "../../../durable-objects/protocol/records.ts";
import { scriptedSandbox } from "../../contract/drivers/scripted.ts";
import { ASK, faultOf, harnessed, resultOf, THREAD, textsOf } from "../fixtures/harnessed.ts";
import { createConversation } from "../fixtures/scripted-conversation.ts";

const NO_SANDBOX = "[flue] This agent has no sandbox. Call useSandbox() in the agent to attach one.";

describe("harness.sandbox", () => {
  it("is the agent's own, and what is done with it is not recorded", async () => {
    const conversation = harnessed(
      async ({ sandbox }) => {
        await sandbox.writeFile("note.txt", "kept");
        return sandbox.readFile("note.txt");
      },
      [],
      { sandbox: true },
    );
    await conversation.send("go");
    expect(resultOf(conversation).text).toBe('"kept"');
    expect(conversation.threads()).toEqual([ROOT_THREAD]);
  });

  it("throws in an agent without one, and says what to call", async () => {
    const conversation = harnessed(async (harness) => {
      const looked = await faultOf((async () => harness.sandbox)());
      return [looked, await faultOf(harness.shell("true"))];
    }, []);
    await conversation.send("go");
    const faults = JSON.parse(resultOf(conversation).text);
    expect(faults).toEqual([
      { name: "Error", message: NO_SANDBOX },
      { name: "Error", message: NO_SANDBOX },
    ]);
  });
});

describe("harness.shell", () => {
  it("gives the bash tool's result and is seen by later prompts", async () => {
    let seen: string[] = [];
    const look = (messages: readonly Message[]) => {
      seen = textsOf(messages.slice(1));
      return { text: "ok" };
    };
    const conversation = harnessed(
      async (harness) => {
        const result = await harness.shell("echo out; exit 3");
        await harness.prompt("What came of it?");
        return result;
      },
      [look],
      { sandbox: true },
    );
    await conversation.send("go");
    const text = "out\n\nCommand exited with code 3";
    expect(JSON.parse(resultOf(conversation).text)).toEqual({
      text,
      details: { command: "echo out; exit 3", exitCode: 3 },
    });
    expect(seen).toEqual([
      expect.stringMatching(/^user: <signal type="shell">/),
      "assistant: toolCall",
      `toolResult: ${text}`,
      "user: What came of it?",
    ]);
  });

  it("records the call as bash, with the values of its environment left out", async () => {
    const conversation = harnessed(
      async (harness) => (await harness.shell('echo "$KEY in $PWD"', { cwd: "/", env: { KEY: "s3cret" } })).text,
      [],
      { sandbox: true },
    );
    await conversation.send("go");
    expect(resultOf(conversation).text).toBe('"s3cret in /"');
    const calls = conversation
      .records(THREAD)
      .flatMap((record) => (isRecordOf(record, "assistant") ? record.body.message.content : []));
    expect(calls).toMatchObject([
      { name: "bash", arguments: { command: 'echo "$KEY in $PWD"', cwd: "/", env: { KEY: "<redacted>" } } },
    ]);
    const [started, result] = conversation.records(THREAD).slice(-2);
    expect(started?.body).toMatchObject({ type: "tool_started", toolName: "bash" });
    expect(result?.body).toMatchObject({ type: "tool_result", toolName: "bash", isError: false });
  });

  it("records a throw with exit code -1 and throws it on", async () => {
    const broken: SandboxFactory = {
      async createSandbox() {
        const sandbox: Sandbox = scriptedSandbox({}).sandbox;
        return {
          ...sandbox,
          exec: async (command) => {
            if (command === "ls") throw new Error("the line is dead");
            return { stdout: "\n\n0\n", stderr: "", exitCode: 0 };
          },
        };
      },
    };
    const conversation = harnessed((harness) => faultOf(harness.shell("ls")), [], {
      body() {
        useSandbox(broken);
        useTool({
          ...{ name: "ask", description: "d", harness: true as const },
          run: async ({ harness }) => ({ output: await faultOf(harness.shell("ls")) }),
        });
      },
    });
    await conversation.send("go");
    expect(JSON.parse(resultOf(conversation).text)).toEqual({ name: "Error", message: "the line is dead" });
    expect(conversation.records(THREAD).at(-1)?.body).toMatchObject({
      ...{ type: "tool_result", text: "the line is dead", isError: true },
      details: { command: "ls", exitCode: -1 },
    });
  });

  it("keeps nobody waiting after an abort, though the command does not listen", async () => {
    const { sandbox } = scriptedSandbox({});
    const deaf: SandboxFactory = {
      createSandbox: async () => ({
        ...sandbox,
        exec: (command) =>
          command === "sleep" ? new Promise(() => {}) : Promise.resolve({ stdout: "\n\n0\n", stderr: "", exitCode: 0 }),
      }),
    };
    const conversation = harnessed(() => "", [], {
      body() {
        useSandbox(deaf);
        useTool({
          ...{ name: "ask", description: "d", harness: true as const },
          async run({ harness }) {
            const controller = new AbortController();
            const running = harness.shell("sleep", { signal: controller.signal });
            controller.abort(new Error("enough"));
            return { output: await faultOf(running) };
          },
        });
      },
    });
    await conversation.send("go");
    expect(JSON.parse(resultOf(conversation).text)).toEqual({ name: "AbortError", message: "enough" });
  });

  it.each<[string, unknown, object, string]>([
    ["an unknown option", "ls", { colour: 1 }, 'options received unknown field "colour".'],
    ["an empty command", " ", {}, "the command must be a non-empty string."],
    ["an environment of numbers", "ls", { env: { A: 1 } }, "options.env must map names to strings."],
    ["no time at all", "ls", { timeoutMs: 0 }, "options.timeoutMs must be a positive number"],
  ])("refuses %s", async (_what, command, options, text) => {
    const conversation = harnessed((harness) => harness.shell(command as string, options), [], { sandbox: true });
    await conversation.send("go");
    expect(resultOf(conversation).text).toContain(`Tool "ask" misused harness.shell(): ${text}`);
  });
});

describe("the tools of a scratch conversation", () => {
  it("run their commands under keys of the thread, and share the root's sandbox", async () => {
    const keys: (string | undefined)[] = [];
    let opened = 0;
    const watched: SandboxFactory = {
      async createSandbox() {
        opened++;
        const { sandbox } = scriptedSandbox({});
        return {
          ...sandbox,
          exec: async (command, options) => {
            if (options?.key !== undefined) keys.push(options.key);
            return command.startsWith("echo")
              ? { stdout: command, stderr: "", exitCode: 0 }
              : { stdout: "\n\n0\n", stderr: "", exitCode: 0 };
          },
        };
      },
    };
    const conversation = createConversation({
      script: [
        { calls: [{ id: "call_root", name: "bash", arguments: { command: "echo root" } }] },
        { calls: [ASK] },
        { calls: [{ id: "call_inner", name: "bash", arguments: { command: "echo inner" } }] },
        { text: "inner done" },
        { text: "done" },
      ],
      body() {
        useSandbox(watched);
        useTool({
          ...{ name: "ask", description: "d", harness: true as const },
          run: async ({ harness }) => (await harness.prompt("run it")).text,
        });
      },
    });
    await conversation.send("go");
    expect(keys).toEqual(["root/call_root", `${THREAD}/call_inner`]);
    expect(opened).toBe(1);
    expect(resultOf(conversation, "call_inner", THREAD).text).toBe("echo inner");
  });

  it("have a limit of their own, so that a full batch of harness calls does not starve what it asks for", async () => {
    const callers = Array.from({ length: MAX_PARALLEL_TOOLS + 2 }, (_, i) => ({ ...ASK, id: `call_out_${i}` }));
    let inner = 0;
    const answer = (messages: readonly Message[]) =>
      messages.at(-1)?.role === "user"
        ? { calls: [{ id: `call_in_${inner++}`, name: "note", arguments: {} }] }
        : { text: "noted" };
    const conversation = createConversation({
      script: [{ calls: callers }, ...callers.flatMap(() => [answer, answer]), { text: "done" }],
      body() {
        useTool({
          ...{ name: "ask", description: "d", harness: true as const },
          run: async ({ harness }) => (await harness.prompt("note it")).text,
        });
        useTool({ name: "note", description: "d", run: () => "ok" });
      },
    });
    const { settlement } = await conversation.send("go");
    expect(settlement.outcome).toBe("completed");
    for (const { id } of callers) expect(resultOf(conversation, id)).toEqual({ text: "noted", isError: false });
  });

  it("share the locks of the root: it is one sandbox to all of them", async () => {
    const seen = new Set<unknown>();
    const { sandbox } = scriptedSandbox({});
    const plain: Sandbox = { ...sandbox, exec: async () => ({ stdout: "\n\n0\n", stderr: "", exitCode: 0 }) };
    let lists = 0;
    const watched: SandboxFactory = {
      createSandbox: async () => plain,
      tools(view) {
        lists++;
        seen.add(sandboxIdentity(view));
        return [];
      },
    };
    const conversation = harnessed(() => "", [{ text: "inner" }], {
      body() {
        useSandbox(watched, { cwd: "/workspace/app" });
        useTool({
          ...{ name: "ask", description: "d", harness: true as const },
          async run({ harness }) {
            seen.add(sandboxIdentity(harness.sandbox));
            await harness.prompt("x");
          },
        });
      },
    });
    await conversation.send("go");
    expect(resultOf(conversation).isError).toBe(false);
    expect(lists).toBeGreaterThan(3);
    expect([...seen]).toEqual([plain]);
  });

  it("call ids stay unique in the whole conversation", async () => {
    const conversation = harnessed(
      async (harness) => (await harness.prompt("x")).text,
      [{ calls: [{ id: ASK.id, name: "none", arguments: {} }] }, { text: "ok" }],
    );
    await conversation.send("go");
    expect(resultOf(conversation).text).toBe('"ok"');
    const started = [ROOT_THREAD, THREAD].flatMap((thread) =>
      conversation.records(thread).flatMap((r) => (isRecordOf(r, "tool_started") ? [r.body.toolCallId] : [])),
    );
    expect(started).toHaveLength(2);
    expect(new Set(started).size).toBe(2);
  });
});
