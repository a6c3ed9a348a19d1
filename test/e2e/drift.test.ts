/**
 * An agent that mounts and unmounts a sandbox, tools and skills over 30 turns, is restarted every 5 and deployed anew with
 * other instructions in between: the prompt stays as it was, each change is told once, in order, and nothing that a model
 * was sent before is ever sent otherwise.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ChatRequest, scriptToken, textOf } from "../model-server/script.ts";
import { seededRandom } from "../sim/random.ts";
import { openConversation, readJson } from "../wire/conversation-client.ts";
import { type ScriptedBerth, startScriptedBerth } from "./scripted-berth.ts";
import { MOUNTABLE, type Mountable } from "./workers/drifting-agent.ts";

const TURNS = 30;
const TURNS_BETWEEN_RESTARTS = 5;
const DEPLOY_BEFORE_TURN = 15;
const FIRST = "test/e2e/workers/drifting-first.ts";
const SECOND = "test/e2e/workers/drifting-second.ts";
const SANDBOX_TOOLS = ["read", "write", "edit", "bash", "grep", "glob"];
const SKILL_LINES: Readonly<Record<string, string>> = {
  faq: "- **faq** — Answers what is asked often.",
  refunds: "- **refunds** — Pays money back.",
};

let scripted: ScriptedBerth;
beforeAll(async () => {
  scripted = await startScriptedBerth({}, FIRST);
});
afterAll(() => scripted.stop());

function skillsOf(mounted: readonly Mountable[]): string[] {
  return ["faq", "refunds"].filter((name) => mounted.some((other) => other === name));
}

function toolsOf(mounted: readonly Mountable[]): string[] {
  const has = (name: Mountable) => mounted.includes(name);
  return [
    ...(has("sandbox") ? SANDBOX_TOOLS : []),
    "task",
    ...(skillsOf(mounted).length > 0 ? ["activate_skill"] : []),
    ...(["alpha", "beta"] as const).filter(has),
    "mount",
  ];
}

/** One line a signal: its kind, and the rest that can be told without the product. */
function expectedSignals(before: readonly Mountable[], now: readonly Mountable[]): string[] {
  const [skillsBefore, skills] = [skillsOf(before), skillsOf(now)];
  const [toolsBefore, tools] = [toolsOf(before), toolsOf(now)];
  if (before.includes("sandbox") !== now.includes("sandbox")) {
    const where = now.includes("sandbox") ? "Working directory: /workspace" : "There is no sandbox";
    return [`environment: ${where}; ${skills.join()}; ${tools.join()}`];
  }
  const signals: string[] = [];
  if (skills.join() !== skillsBefore.join()) {
    const added = skills.filter((name) => !skillsBefore.includes(name)).map((name) => SKILL_LINES[name]);
    const gone = skillsBefore.filter((name) => !skills.includes(name));
    const heading = added.length === 0 ? [] : [added.length === 1 ? "New skill available:" : "New skills available:"];
    const lines = [...heading, ...added, ...gone.map((name) => `The skill "${name}" is no longer available.`)];
    signals.push(`skill: ${[...lines, `All available skills: ${skills.join(", ") || "(none)"}`].join("\n")}`);
  }
  if (tools.join() !== toolsBefore.join()) signals.push(`tool: All available tools: ${tools.join(", ")}`);
  return signals;
}

/** The same line, read from what a model was sent. */
function readSignals(messages: ChatRequest["messages"]): string[] {
  return messages.flatMap((message) => {
    const text = textOf(message.content);
    const [, type, resource, body = ""] =
      /^<signal type="(\w+)"(?: resource="(\w+)")?>\n(.*)\n<\/signal>$/s.exec(text) ?? [];
    if (message.role !== "user" || type === undefined) return [];
    if (type === "instructions") return [`instructions: ${body}`];
    if (type === "environment") {
      const where = /Working directory: .+|There is no sandbox/.exec(body)?.[0];
      const names = (heading: string, mark: RegExp) =>
        [...(body.split(`## ${heading}`)[1]?.split("## ")[0] ?? "").matchAll(mark)].map(([, name]) => name).join();
      const skills = names("Available Skills", /^- \*\*(.+?)\*\*/gm);
      return [`environment: ${where}; ${skills}; ${names("Available Tools", /^- (\w+)$/gm)}`];
    }
    return [`${resource}: ${resource === "tool" ? body.split("\n").at(-1) : body}`];
  });
}

describe("an agent whose environment drifts", () => {
  it("keeps its prompt and its prefix, and is told each change once", { timeout: 300_000 }, async () => {
    const { berth, model } = scripted;
    const random = seededRandom(7);
    const conversation = openConversation(berth.baseUrl, "drifting");
    const readPrompt = async () =>
      (
        await readJson<{ prompt: { epoch: number; sha256: string; text: string } }>(
          await conversation.call("GET", "/prompt"),
          200,
        )
      ).prompt;
    let mounted: Mountable[] = [];
    let hash: string | undefined;
    const expected: string[] = [];
    for (let turn = 0; turn < TURNS; turn++) {
      if (turn > 0 && turn % TURNS_BETWEEN_RESTARTS === 0) {
        await berth.kill();
        await berth.restart(turn >= DEPLOY_BEFORE_TURN ? SECOND : FIRST);
      }
      if (turn === DEPLOY_BEFORE_TURN)
        expected.push("instructions: System instructions updated.\n\nYou are the second.");
      const next = MOUNTABLE.filter(() => random.chance(0.5));
      const key = `turn-${turn}`;
      model.script(key, [
        { calls: [{ id: `call-${turn}`, name: "mount", arguments: { names: next } }] },
        { text: `done ${turn}` },
      ]);
      const { submissionId } = await conversation.send(`Go on. ${scriptToken(key)}`);
      expect((await conversation.settled(submissionId)).outcome).toBe("completed");
      expected.push(...expectedSignals(mounted, next));
      const last = model.requestsOf(key).at(-1);
      expect(readSignals(last?.body.messages ?? []), `turn ${turn}`).toEqual(expected);
      expect(last?.body.tools?.map((tool) => tool.function?.name)).toEqual(toolsOf(next));
      mounted = next;
      const prompt = await readPrompt();
      hash ??= prompt.sha256;
      expect(prompt).toMatchObject({ epoch: 1, sha256: hash });
      expect(textOf(last?.body.messages[0]?.content)).toBe(prompt.text);
      expect(model.problemsOf(key)).toEqual([]);
    }
    expect(expected.length).toBeGreaterThan(TURNS / 2);
    const sent = model.requests.map((request) => request.body.messages.map((message) => JSON.stringify(message)));
    expect(sent).toHaveLength(2 * TURNS);
    sent.forEach((messages, i) => {
      const before = sent[i - 1] ?? [];
      expect(messages.slice(0, before.length), `request ${i}`).toEqual(before);
    });
  });
});
