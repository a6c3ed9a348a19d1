/** `defineSkill`, `packagedSkill` and `useSkill`. Source: contract RUNTIME 4, 8. */
import { describe, expect, it } from "vitest";
import type { Agent } from "../../durable-objects/agent/agent.ts";
import {
  defineSkill,
  packagedSkill,
  type SkillDefinition,
  useModel,
  useSkill,
} from "../../durable-objects/agent/index.ts";
import { renderAgent } from "../../durable-objects/agent/render-agent.ts";
import type { PackagedSkill } from "../../durable-objects/skills/skill.ts";
import { createSettings } from "./fixtures/settings.ts";

const GOOD: SkillDefinition = { name: "release-notes", description: "Writes them.", instructions: "Group commits." };

function render(body: () => void, subagent = false): readonly PackagedSkill[] {
  const agent: Agent = () => {
    if (!subagent) useModel("scripted/demo");
    body();
    return undefined;
  };
  const context = { id: "c1", settings: createSettings() };
  return renderAgent({ name: "tester", agent, http: true }, subagent ? { ...context, subagent } : context).skills;
}

/** What an author who does not use TypeScript may write. */
function untyped(value: unknown): SkillDefinition {
  return value as SkillDefinition;
}

const FAULTS: [string, unknown, RegExp][] = [
  ["no object", "release-notes", /the definition must be an object/],
  ["an unknown field", { ...GOOD, instuctions: "x" }, /unknown field "instuctions"/],
  ["no name", { ...GOOD, name: undefined }, /name is missing/],
  ["a name with a capital", { ...GOOD, name: "Notes" }, /name "Notes" is not allowed/],
  ["no description", { ...GOOD, description: "" }, /description is missing/],
  ["a description of 1025 characters", { ...GOOD, description: "x".repeat(1025) }, /longer than 1024/],
  ["blank instructions", { ...GOOD, instructions: " \n" }, /instructions must be a non-empty string/],
  ["a compatibility of 501 characters", { ...GOOD, compatibility: "x".repeat(501) }, /longer than 500/],
  ["metadata that is no text", { ...GOOD, metadata: { version: 1 } }, /metadata must map names to text/],
  ["allowed tools in a list", { ...GOOD, allowedTools: ["bash"] }, /allowedTools must be text/],
  ["files in a list", { ...GOOD, files: ["a"] }, /files must be an object/],
  ["a file that is no content", { ...GOOD, files: { a: 1 } }, /content of "a" must be a string or a Uint8Array/],
  ["its own SKILL.md", { ...GOOD, files: { "SKILL.md": "x" } }, /SKILL\.md is written from the definition/],
  ...["/a", "../a", "a/../b", "./a", "a//b", "a/", "", "a\\b", "a\nb"].map((path): [string, unknown, RegExp] => [
    `the path ${JSON.stringify(path)}`,
    { ...GOOD, files: { [path]: "x" } },
    /is not a path below the skill's own folder/,
  ]),
];

describe("defineSkill", () => {
  it("gives the definition, frozen, with copies of what could still change", () => {
    const bytes = Uint8Array.of(1, 2);
    const metadata = { version: "1" };
    const defined = defineSkill({ ...GOOD, metadata, files: { "a.bin": bytes } });
    expect(defined).toEqual({ ...GOOD, metadata, files: { "a.bin": bytes } });
    for (const part of [defined, defined.metadata, defined.files]) expect(Object.isFrozen(part)).toBe(true);
    bytes[0] = 9;
    expect(defined.files?.["a.bin"]).toEqual(Uint8Array.of(1, 2));
  });

  it.each(FAULTS)("refuses %s at once", (_what, definition, message) => {
    expect(() => defineSkill(untyped(definition))).toThrow(
      expect.objectContaining({ type: "skill_definition_validation", message: expect.stringMatching(message) }),
    );
  });

  it("names the skill it refuses", () => {
    expect(() => defineSkill({ ...GOOD, instructions: "" })).toThrow('defineSkill() "release-notes": instructions');
  });

  it("does not compile without what a skill needs", () => {
    // @ts-expect-error instructions are missing
    expect(() => defineSkill({ name: "a", description: "d" })).toThrow("instructions");
    // @ts-expect-error a file is text or bytes
    expect(() => defineSkill({ ...GOOD, files: { a: 1 } })).toThrow("content");
  });
});

describe("useSkill", () => {
  it("mounts packaged, defined and inline skills in call order", () => {
    const skills = render(() => {
      useSkill(packagedSkill("review-changes"));
      useSkill(defineSkill(GOOD));
      useSkill({ ...GOOD, name: "inline" });
    });
    expect(skills.map(({ name }) => name)).toEqual(["review-changes", "release-notes", "inline"]);
  });

  it("gives a defined skill the SKILL.md of such a folder, and its files", () => {
    const description = 'Says: "quote", # hash,\nand a second line\\';
    const full = defineSkill({
      ...{ ...GOOD, description, instructions: "# A\n\n---\n\nB" },
      ...{ license: "MIT", compatibility: "git", metadata: { a: "b: c" }, allowedTools: "bash" },
      files: { "t.md": "\uFEFFx", "n.bin": Uint8Array.of(0, 255), "u.txt": new TextEncoder().encode("é") },
    });
    const [skill] = render(() => useSkill(full));
    expect(skill).toMatchObject({
      description: 'Says: "quote", # hash, and a second line\\',
      instructions: "# A\n\n---\n\nB",
      id: expect.stringMatching(/^skill:release-notes:[0-9a-f]{16}$/),
    });
    expect(skill?.files.get("SKILL.md")?.content).toMatch(/^---\nname: "release-notes"\n.*\nlicense: "MIT"\n/);
    expect(skill?.files.get("t.md")).toEqual({ encoding: "text", content: "\uFEFFx" });
    expect(skill?.files.get("n.bin")).toEqual({ encoding: "base64", content: "AP8=" });
    expect(skill?.files.get("u.txt")).toEqual({ encoding: "text", content: "é" });
  });

  it("packages a defined skill once, however often it is rendered", () => {
    const defined = defineSkill(GOOD);
    const [first] = render(() => useSkill(defined));
    const [second] = render(() => useSkill(defined));
    expect(second).toBe(first);
  });

  it("may be conditional: the next render starts from nothing", () => {
    let on = true;
    const body = () => {
      if (on) useSkill(GOOD);
    };
    expect(render(body)).toHaveLength(1);
    on = false;
    expect(render(body)).toEqual([]);
  });

  it("may stand in a subagent's render", () => {
    expect(render(() => useSkill(GOOD), true).map(({ name }) => name)).toEqual(["release-notes"]);
  });

  it("refuses one name twice, and names agent and hook", () => {
    const twice = () => {
      useSkill(GOOD);
      useSkill({ ...GOOD, description: "Another." });
    };
    expect(() => render(twice)).toThrow(
      'Agent "tester" misused useSkill(): the skill "release-notes" was mounted twice in one render.',
    );
  });

  it.each(FAULTS)("refuses %s, and names agent and hook", (_what, definition, message) => {
    expect(() => render(() => useSkill(untyped(definition)))).toThrow(
      expect.objectContaining({ type: "skill_definition_validation", message: expect.stringMatching(message) }),
    );
    expect(() => render(() => useSkill(untyped(definition)))).toThrow(/^Agent "tester" misused useSkill\(\): /);
  });

  it("throws outside a render", () => {
    expect(() => useSkill(GOOD)).toThrow("useSkill() was called outside the render of an agent.");
  });
});

describe("packagedSkill", () => {
  it("does not compile for a folder that is not there, and lists those that are when it is asked all the same", () => {
    // @ts-expect-error no such folder
    expect(() => packagedSkill("no-such-skill")).toThrow(/no packaged skill "no-such-skill".*review-changes/);
  });
});
