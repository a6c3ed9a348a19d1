/**
 * The newcomer's page `worker/agents/README.md`: each of its examples is compiled, served by a real Berth and talked to. An
 * example without a scenario here fails, and so does a scenario without an example.
 */
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { WireSnapshot } from "../../durable-objects/protocol/wire.ts";
import { type ModelTurn, readToolResults, scriptToken, textOf } from "../model-server/script.ts";
import { openConversation, replyOf } from "../wire/conversation-client.ts";
import { type ScriptedBerth, startScriptedBerth } from "./scripted-berth.ts";

const ROOT = path.resolve(import.meta.dirname, "../..");
/** As deep as `worker/agents/`, so that the examples' imports hold. */
const FOLDER = path.join(ROOT, ".berth/page");
const page = readFileSync(path.join(ROOT, "worker/agents/README.md"), "utf8");

const examples = new Map(
  [...page.matchAll(/```ts\n(.*?)```/gs)].map(([, code = ""]) => {
    const name = /^export const (\w+): Agent/m.exec(code)?.[1];
    if (name === undefined) throw new Error(`An example exports no agent:\n${code}`);
    return [name, code] as const;
  }),
);

interface Seen {
  /** Results of the tools, in order. */
  results: string[];
  /** Texts of all messages of the last request. */
  texts: string[];
  tools: string[];
  snapshot: WireSnapshot;
}

interface Scenario {
  turns: ModelTurn[];
  initialData?: unknown;
  expect(seen: Seen): void;
}

const call = (name: string, args: Record<string, unknown> = {}): ModelTurn => ({
  calls: [{ id: `call_${name}`, name, arguments: args }],
});
const done: ModelTurn = { text: "done" };

const SCENARIOS: Readonly<Record<string, Scenario>> = {
  greeter: { turns: [done], expect: ({ texts }) => expect(texts[0]).toContain("This is conversation page-greeter.") },
  forecaster: {
    turns: [call("weather", { city: "Bergen" }), done],
    expect({ results, texts }) {
      expect(results).toEqual(['{"city":"Bergen","sky":"clear"}']);
      expect(texts[0]).toMatch(/^You tell the weather\.\n\nName the city in every answer\./);
    },
  },
  shopper: {
    turns: [call("order", { item: "tea" }), done],
    expect: ({ results }) => expect(results).toEqual(["confirmed order of tea"]),
  },
  counter: {
    turns: [
      {
        calls: [1, 2].map((by) => ({ id: `count_${by}`, name: "count", arguments: { by } })),
      },
      done,
    ],
    expect({ texts }) {
      expect(texts[0]).toContain("the count was 0");
      expect(texts.at(-1)).toContain("the count was 3");
    },
  },
  analyst: {
    turns: [call("open_files"), call("bash", { command: "echo here" }), done],
    expect({ results, texts, tools }) {
      expect(results).toEqual(["null", "here"]);
      expect(texts.join("\n")).toContain('<signal type="environment">');
      expect(tools).toContain("bash");
    },
  },
  cashier: {
    turns: [call("activate_skill", { name: "refunds" }), done],
    expect({ results, texts }) {
      expect(texts[0]).toContain("- **refunds** — Pay money back.");
      expect(results[0]).toContain("Ask for the order number.");
      expect(results[0]).toContain("POLICY.md");
    },
  },
  triage: {
    // The second turn answers the harness's own request, which holds the report and its token.
    turns: [
      call("judge", { report: `It burns. ${scriptToken("triage")}` }),
      call("finish", { urgent: true, reason: "fire" }),
      done,
    ],
    expect: ({ results }) => expect(results).toEqual(['{"urgent":true,"reason":"fire"}']),
  },
  importer: {
    turns: [{ text: "Nothing to do." }, call("import_rows"), done],
    initialData: { source: "a file" },
    expect({ texts, results, snapshot }) {
      expect(texts.join("\n")).toContain("Rows come from a file. You were sent a user message.");
      expect(texts.join("\n")).toContain("Import the rows before you end.");
      expect(results).toEqual(["20 rows are there."]);
      const response = snapshot.messages.find((message) => message.role === "assistant");
      expect(response?.parts).toContainEqual({ type: "data-progress", data: { rows: 20 } });
      expect(response?.metadata).toEqual({ tokens: expect.any(Number) });
    },
  },
};

function writeWorker(): void {
  rmSync(FOLDER, { recursive: true, force: true });
  mkdirSync(FOLDER, { recursive: true });
  for (const [name, code] of examples) writeFileSync(path.join(FOLDER, `${name}.ts`), code);
  const names = [...examples.keys()];
  const worker = [
    'import { composeWorker } from "../../worker/compose.ts";',
    ...names.map((name) => `import { ${name} } from "./${name}.ts";`),
    'export { Sandbox } from "@cloudflare/sandbox";',
    'export { ContainerSandbox } from "../../containers/container-object.ts";',
    `const worker = composeWorker({ ${names.join(", ")} });`,
    "export class Conversation extends worker.Conversation {}",
    "export default worker.handler;",
    "",
  ].join("\n");
  writeFileSync(path.join(FOLDER, "worker.ts"), worker);
  writeFileSync(
    path.join(FOLDER, "tsconfig.json"),
    JSON.stringify({ extends: "../../tsconfig.json", include: ["*.ts"] }),
  );
}

describe("the page about writing agents", () => {
  let scripted: ScriptedBerth;
  beforeAll(async () => {
    writeWorker();
    scripted = await startScriptedBerth({}, path.relative(ROOT, path.join(FOLDER, "worker.ts")));
  });
  afterAll(async () => {
    await scripted.stop();
    rmSync(FOLDER, { recursive: true, force: true });
  });

  it("has a scenario for each example and an example for each scenario", () => {
    expect(Object.keys(SCENARIOS).sort()).toEqual([...examples.keys()].sort());
  });

  it("compiles", () => {
    const compiler = path.join(ROOT, "node_modules/typescript/bin/tsc");
    execFileSync(process.execPath, [compiler, "-p", FOLDER, "--noEmit"], { encoding: "utf8", stdio: "pipe" });
  });

  it.each([...examples.keys()])("%s does what the page says", async (name) => {
    const scenario = SCENARIOS[name];
    if (!scenario) throw new Error(`${name} has no scenario`);
    const { berth, model } = scripted;
    model.script(name, scenario.turns);
    const conversation = openConversation(berth.baseUrl, name, `page-${name}`);
    const { initialData } = scenario;
    const body = `Go on. ${scriptToken(name)}`;
    const answer = await conversation.post({ kind: "user", body, ...(initialData !== undefined && { initialData }) });
    const { submissionId } = (await answer.json()) as { submissionId: string };
    expect((await conversation.settled(submissionId)).outcome).toBe("completed");
    const snapshot = await conversation.history();
    expect(replyOf(snapshot.messages, submissionId)).toContain("done");
    const last = model.requestsOf(name).at(-1)?.body ?? { messages: [] };
    scenario.expect({
      results: readToolResults(last).map(({ text }) => text),
      texts: last.messages.map((message) => textOf(message.content)),
      tools: last.tools?.map((tool) => tool.function?.name ?? "") ?? [],
      snapshot,
    });
    expect(model.problemsOf(name)).toEqual([]);
  });
});
