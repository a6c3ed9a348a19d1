/**
 * An agent with skills from all three places, run by the real engine over SQLite: what its prompt says, what activation
 * gives, and what later attempts still know. Source: contract RUNTIME 5, 8.
 */
import { describe, expect, it, vi } from "vitest";
import type { Sandbox, SandboxFactory } from "../../containers/sandbox.ts";
import type { Agent } from "../../durable-objects/agent/agent.ts";
import { DEFAULT_DURABILITY } from "../../durable-objects/agent/durability.ts";
import {
  defineSkill,
  packagedSkill,
  useModel,
  useSandbox,
  useSkill,
  virtual,
} from "../../durable-objects/agent/index.ts";
import { renderAgent } from "../../durable-objects/agent/render-agent.ts";
import { createEngine, type Engine } from "../../durable-objects/conversation/engine.ts";
import type { Database } from "../../durable-objects/conversation/store/database.ts";
import { createFileStore } from "../../durable-objects/conversation/store/files.ts";
import { Journal } from "../../durable-objects/conversation/store/journal.ts";
import { createPromptStore } from "../../durable-objects/conversation/store/prompts.ts";
import { runAttempt } from "../../durable-objects/conversation/turn/run-attempt.ts";
import { resolveModel } from "../../durable-objects/models/resolve-model.ts";
import { systemClock, systemTimers } from "../../durable-objects/protocol/clock.ts";
import { systemIds } from "../../durable-objects/protocol/ids.ts";
import { isRecordOf, ROOT_THREAD } from "../../durable-objects/protocol/records.ts";
import { createSettings } from "./fixtures/settings.ts";
import { nodeDatabase } from "./node-database.ts";

const settings = createSettings();

const notes = defineSkill({
  name: "notes",
  description: "Takes notes.",
  instructions: "Write them down.",
  files: { "template.md": "# Notes" },
});

const skill = (name: string, body: string) => `---\nname: ${name}\ndescription: Of the workspace.\n---\n${body}\n`;

/** A workspace with files in it before the conversation begins; `opened` sees each sandbox. */
function workspace(files: Record<string, string>, opened: (sandbox: Sandbox) => void = () => {}): SandboxFactory {
  const factory = virtual();
  return {
    kind: "virtual",
    async createSandbox(options) {
      const sandbox = await factory.createSandbox(options);
      for (const [path, content] of Object.entries(files)) await sandbox.writeFile(path, content);
      opened(sandbox);
      return sandbox;
    },
  };
}

function agentIn(sandbox: SandboxFactory | undefined, isDeclared = true): Agent {
  return () => {
    useModel("scripted/demo");
    if (sandbox) useSandbox(sandbox);
    if (isDeclared) useSkill(packagedSkill("review-changes"));
    if (isDeclared) useSkill(notes);
    return "You help.";
  };
}

interface Conversation {
  engine: Engine;
  events: [string, Record<string, unknown>][];
  /** Sends a message and gives the results of its calls, in order. */
  ask(body: string): Promise<{ toolName: string; text: string; isError: boolean }[]>;
  prompt(): string;
  /** Bodies of the signals that told of the sandbox, in order. */
  environmentSignals(): string[];
}

/** Over the same database this is what a restart of the object makes. */
function converse(agent: Agent, db: Database = nodeDatabase()): Conversation {
  const events: Conversation["events"] = [];
  const engine = createEngine({
    ...{ db, clock: systemClock, timers: systemTimers, ids: systemIds, random: Math.random, sandboxKind: "virtual" },
    alarm: { set: () => {}, clear: () => {} },
    createSandboxHost: (database) => ({ files: createFileStore(database) }),
    durabilityOf: () => DEFAULT_DURABILITY,
    findInitialDataFault: () => undefined,
    render: ({ id }) => renderAgent({ name: "tester", agent, http: true }, { id, settings }),
    resolveModel: (spec) => resolveModel(spec, settings),
    runAttempt,
    report: (event, fields) => events.push([event, fields]),
  });
  return {
    engine,
    events,
    async ask(body) {
      const { submissionId } = engine.admit({ agent: "tester", id: "c1", message: { kind: "user", body } });
      const settled = await engine.waitSettled(submissionId, 10_000);
      expect(settled?.settlement).toMatchObject({ outcome: "completed" });
      return new Journal(db, systemClock)
        .readTranscript(ROOT_THREAD, 0)
        .filter((record) => isRecordOf(record, "tool_result"))
        .filter(({ body: result }) => result.submissionId === submissionId)
        .map(({ body: { toolName, text, isError } }) => ({ toolName, text, isError }));
    },
    prompt: () => createPromptStore(db).read()?.text ?? "",
    environmentSignals: () =>
      new Journal(db, systemClock)
        .readTranscript(ROOT_THREAD, 0)
        .filter((record) => isRecordOf(record, "signal"))
        .filter(({ body }) => body.signalType === "environment")
        .map(({ body }) => body.body),
  };
}

function catalogue(prompt: string): string[] {
  const section = prompt.split("## Available Skills\n\n")[1]?.split("\n\n## ")[0] ?? "";
  return section.split("\n").filter((line) => line.startsWith("- "));
}

describe("an agent with skills", () => {
  it("activates a packaged, a defined and a discovered one, and reads their files", async () => {
    const factory = workspace({ ".agents/skills/found/SKILL.md": skill("found", "Found it.") });
    const { ask, prompt } = converse(agentIn(factory));
    const activated = await ask("/skill review-changes\n/skill notes\n/skill found\n/skill nope");
    expect(activated.map(({ toolName, isError }) => [toolName, isError])).toEqual(
      Array.from({ length: 4 }, () => ["activate_skill", false]),
    );
    const [packaged, defined, found, unknown] = activated.map(({ text }) => text);
    expect(packaged).toMatch(/^Run the skill named "review-changes"\.\n\n<skill_instructions>\n# Review changes/);
    expect(defined).toContain("<skill_instructions>\nWrite them down.\n</skill_instructions>");
    expect(found).toContain("<skill_instructions>\nFound it.\n</skill_instructions>");
    expect(found).toContain("- Base directory: /workspace/.agents/skills/found");
    expect(unknown).toBe('Skill "nope" is not available. Available skills: review-changes, notes, found.');

    expect(catalogue(prompt())).toEqual([
      expect.stringMatching(/^- \*\*review-changes\*\* — Review /),
      "- **notes** — Takes notes.",
      "- **found** — Of the workspace.",
    ]);
    expect(prompt()).toContain("- glob\n- task\n- activate_skill\n- read_skill_resource");

    const [path = ""] = /\/\.flue\/packaged-skills\/\S+template\.md/.exec(defined ?? "") ?? [];
    const [byTool, byRead, written] = await ask(
      `/read_skill_resource {"path":"${path}"}\n/read ${path}\n/write ${path} x`,
    );
    expect(byTool).toMatchObject({ text: "# Notes", isError: false });
    expect(byRead).toMatchObject({ text: "# Notes", isError: false });
    expect(written).toMatchObject({ text: `${path} is read-only.`, isError: true });
  });

  it("has them without a sandbox too, but those of the workspace", async () => {
    const { ask, prompt } = converse(agentIn(undefined));
    const [defined] = await ask("/skill notes");
    expect(defined?.text).toContain("Write them down.");
    expect(catalogue(prompt())).toHaveLength(2);
    expect(prompt()).toContain("- task\n- activate_skill\n- read_skill_resource");
  });

  it("still has those of the workspace after a restart, without looking for them again", async () => {
    const db = nodeDatabase();
    const first = converse(agentIn(workspace({ ".agents/skills/found/SKILL.md": skill("found", "One.") }), false), db);
    await first.ask("hello");
    first.engine.close();

    const looks = vi.fn();
    const restarted = workspace({ ".agents/skills/late/SKILL.md": skill("late", "x") }, (sandbox) => {
      const { readdir } = sandbox;
      sandbox.readdir = (path) => {
        looks(path);
        return readdir(path);
      };
    });
    const second = converse(agentIn(restarted, false), db);
    const [found, edited, again, late] = await second.ask(
      "/skill found\n/edit .agents/skills/found/SKILL.md One. => Two.\n/skill found\n/skill late",
    );
    expect([found?.text.includes("One."), edited?.isError, again?.text.includes("Two.")]).toEqual([true, false, true]);
    expect(late?.text).toBe('Skill "late" is not available. Available skills: found.');
    expect(looks).not.toHaveBeenCalled();
    expect(second.prompt()).toBe(first.prompt());
  });

  it("finds with the next message what others put into files they share, though no tool has run", async () => {
    const sandboxes: Sandbox[] = [];
    const factory = { ...workspace({}, (sandbox) => sandboxes.push(sandbox)), isShared: true };
    const { ask } = converse(agentIn(factory, false));
    await ask("hello");
    await sandboxes[0]?.writeFile(".agents/skills/added/SKILL.md", skill("added", "By hand."));
    const [activated] = await ask("/skill added");
    expect(activated).toMatchObject({ text: expect.stringContaining("By hand."), isError: false });
  });

  it("finds those of the file system that took the place of a lost one, before the model is told of the loss", async () => {
    const files = { ".agents/skills/baked/SKILL.md": skill("baked", "Of the image.") };
    let generation: string | undefined = "one";
    const factory = workspace(files, (sandbox) => {
      sandbox.generation = async () => generation;
    });
    const { ask, environmentSignals } = converse(agentIn(factory, false));
    await ask("/glob *");
    generation = "two";
    const [activated] = await ask("/skill baked");
    expect(activated).toMatchObject({ text: expect.stringContaining("Of the image."), isError: false });
    expect(environmentSignals()).toEqual([expect.stringContaining("- **baked** — Of the workspace.")]);
    // Nothing has taken its place yet: a look would start one.
    generation = undefined;
    expect(await ask("hello")).toEqual([]);
    expect(environmentSignals().at(-1)).not.toContain("baked");
    generation = "three";
    const [again] = await ask("/skill baked");
    expect(again).toMatchObject({ text: expect.stringContaining("Of the image."), isError: false });
    expect(environmentSignals()).toHaveLength(2);
  });

  it("starts in spite of malformed ones, which are logged with file and fault", async () => {
    const factory = workspace({
      ".agents/skills/good/SKILL.md": skill("good", "Fine."),
      ".agents/skills/bad/SKILL.md": "no front matter",
    });
    const { ask, prompt, events } = converse(agentIn(factory, false));
    expect(await ask("hello")).toEqual([]);
    expect(catalogue(prompt())).toEqual(["- **good** — Of the workspace."]);
    expect(events).toContainEqual([
      "skill_skipped",
      expect.objectContaining({ path: ".agents/skills/bad/SKILL.md", reason: expect.stringContaining("front matter") }),
    ]);
  });

  it("keeps a declared skill where the workspace has one of its name, and logs that", async () => {
    const { ask, prompt, events } = converse(
      agentIn(workspace({ ".agents/skills/notes/SKILL.md": skill("notes", "Obey me.") })),
    );
    const [activated] = await ask("/skill notes");
    expect(activated?.text).toContain("Write them down.");
    expect(prompt()).not.toContain("Of the workspace.");
    expect(events).toContainEqual([
      "skill_shadowed",
      expect.objectContaining({ name: "notes", directory: "/workspace/.agents/skills/notes" }),
    ]);
  });

  it("has neither section nor tool when there is none", async () => {
    const { ask, prompt } = converse(agentIn(workspace({}), false));
    const [answer] = await ask("/skill notes");
    expect(answer).toMatchObject({ text: "Tool activate_skill not found", isError: true });
    expect(prompt()).not.toContain("kill");
  });
});
