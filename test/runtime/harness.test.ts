/** The harness of a tool in workerd: a real object's storage, real timers, the virtual sandbox. Source: contract RUNTIME 4. */
import { env, runInDurableObject } from "cloudflare:test";
import { describe, expect, it } from "vitest";
import { virtual } from "../../containers/drivers/index.ts";
import type { Agent } from "../../durable-objects/agent/agent.ts";
import { DEFAULT_DURABILITY } from "../../durable-objects/agent/durability.ts";
import { Type, useModel, useSandbox, useTool } from "../../durable-objects/agent/index.ts";
import { renderAgent } from "../../durable-objects/agent/render-agent.ts";
import { createEngine, type Engine } from "../../durable-objects/conversation/engine.ts";
import { durableDatabase } from "../../durable-objects/conversation/store/database.ts";
import { createFileStore } from "../../durable-objects/conversation/store/files.ts";
import { runAttempt } from "../../durable-objects/conversation/turn/run-attempt.ts";
import { resolveModel } from "../../durable-objects/models/resolve-model.ts";
import { registerScript } from "../../durable-objects/models/script.ts";
import { systemClock, systemTimers } from "../../durable-objects/protocol/clock.ts";
import { systemIds } from "../../durable-objects/protocol/ids.ts";
import { createSettings } from "../unit/fixtures/settings.ts";

/** The pool transforms the shell when it is first asked for, which takes seconds. */
const SETTLE_MS = 25_000;

interface TestBindings {
  CONVERSATION: DurableObjectNamespace;
}

const inspector: Agent = () => {
  useModel("scripted/test-harness");
  useSandbox(virtual());
  useTool({
    name: "inspect",
    description: "Inspect the workspace.",
    harness: true,
    async run({ harness }) {
      await harness.sandbox.writeFile("note.txt", "one\n");
      const listed = await harness.shell("ls");
      const { data } = await harness.prompt("Add a line, then say how many there are.", {
        result: Type.Object({ lines: Type.Number() }),
      });
      return { output: { listed: listed.text, lines: data.lines, note: await harness.sandbox.readFile("note.txt") } };
    },
  });
  return "Inspect.";
};

/** The engine with an agent of the test's own, over the storage of a real object whose own engine never hears of it. */
function engineOver(storage: DurableObjectStorage): Engine {
  const settings = createSettings();
  return createEngine({
    db: durableDatabase(storage),
    ...{ clock: systemClock, timers: systemTimers, ids: systemIds, random: Math.random, sandboxKind: "virtual" },
    alarm: { set() {}, clear() {} },
    createSandboxHost: (db) => ({ files: createFileStore(db) }),
    durabilityOf: () => DEFAULT_DURABILITY,
    findInitialDataFault: () => undefined,
    render: ({ id }) => renderAgent({ name: "tester", agent: inspector, http: true }, { id, settings }),
    resolveModel: (spec) => resolveModel(spec, settings),
    runAttempt,
    report: (event, fields) => console.log(event, fields),
  });
}

describe("a tool with a harness", () => {
  it("uses the sandbox, a shell and the model, and its result is all that the conversation shows", async () => {
    registerScript("test-harness", [
      { calls: [{ id: "call_inspect", name: "inspect", arguments: {} }] },
      { calls: [{ id: "call_bash", name: "bash", arguments: { command: "echo two >> note.txt" } }] },
      { calls: [{ id: "call_finish", name: "finish", arguments: { lines: 2 } }] },
      { text: "Inspected." },
    ]);
    const stub = (env as unknown as TestBindings).CONVERSATION.getByName("tester/harness");
    const answer = await runInDurableObject(stub, async (_instance, { storage }) => {
      const engine = engineOver(storage);
      const message = { kind: "user", body: "go" } as const;
      const { submissionId } = engine.admit({ agent: "tester", id: "harness", message });
      return engine.waitSettled(submissionId, SETTLE_MS);
    });
    if (!answer?.message) throw new Error("The submission did not settle with a message.");
    const { settlement, message } = answer;
    expect(settlement.outcome).toBe("completed");
    expect(message.parts).toMatchObject([
      { type: "dynamic-tool", toolName: "inspect", state: "output-available" },
      { type: "text", text: "Inspected." },
    ]);
    expect(JSON.parse(String(Reflect.get(message.parts[0] ?? {}, "output")))).toEqual({
      listed: "note.txt",
      lines: 2,
      note: "one\ntwo\n",
    });
  });
});
