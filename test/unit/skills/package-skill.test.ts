/** Packaged skills, their paths, and the sandbox that serves them. Source: contract RUNTIME 8, TOOLS 11.5, 14.2, 14.3. */
import { describe, expect, it } from "vitest";
import { activateSkill } from "../../../durable-objects/skills/activate-skill.ts";
import { findShadowedSkills, liveSkills } from "../../../durable-objects/skills/live-skills.ts";
import { overlayPackagedSkills } from "../../../durable-objects/skills/overlay-packaged-skills.ts";
import { packageSkill } from "../../../durable-objects/skills/package-skill.ts";
import { packagedPath, readPackagedFile } from "../../../durable-objects/skills/packaged-path.ts";
import { createPackagedSkills } from "../../../durable-objects/skills/packaged-skills.ts";
import type { SkillFile, WorkspaceSkill } from "../../../durable-objects/skills/skill.ts";
import { createPathLocks, createSandboxTools } from "../../../durable-objects/tools/index.ts";
import { scriptedSandbox } from "../../contract/drivers/scripted.ts";

const text = (content: string): SkillFile => ({ encoding: "text", content });
const MAIN = text("---\nname: demo\ndescription: d\n---\nBody\n");

function demo(files: Record<string, SkillFile> = {}) {
  return packageSkill("demo", new Map(Object.entries({ "SKILL.md": MAIN, ...files })));
}

describe("a packaged skill", () => {
  it("has an id of its content: the same for the same files in any order, another for another byte", () => {
    const one = demo({ a: text("1"), b: text("2") });
    expect(one.id).toMatch(/^skill:demo:[0-9a-f]{16}$/);
    const turned = packageSkill("demo", new Map(Object.entries({ b: text("2"), "SKILL.md": MAIN, a: text("1") })));
    expect(turned.id).toBe(one.id);
    const others = [
      demo({ a: text("1"), b: text("3") }),
      demo({ a: text("12") }),
      demo({ a: text("1"), c: text("2") }),
    ];
    expect(new Set([one, ...others].map(({ id }) => id)).size).toBe(4);
  });

  it("has one id for a file, whether it is kept as text or as bytes", () => {
    expect(demo({ a: text("é") }).id).toBe(demo({ a: { encoding: "base64", content: "w6k=" } }).id);
  });

  it("is not hashed before somebody names a path in it, and once then", () => {
    let reads = 0;
    const large = {
      encoding: "text",
      get content() {
        reads++;
        return "x".repeat(5_000_000);
      },
    } as const;
    const skill = demo({ large });
    expect(reads).toBe(0);
    for (let n = 0; n < 5; n++) packagedPath(skill, "large");
    expect(reads).toBe(1);
  });

  it("cannot be changed", () => {
    expect(Object.isFrozen(demo())).toBe(true);
  });

  it.each([
    [{}, /there is no SKILL\.md/],
    [{ "SKILL.md": { encoding: "base64", content: "AA==" } }, /SKILL\.md is not UTF-8 text/],
  ] as const)("is none without readable instructions: %j", (files, reason) => {
    expect(() => packageSkill("demo", new Map(Object.entries(files)))).toThrow(reason);
  });
});

describe("the packed folders", () => {
  const find = createPackagedSkills({
    demo: { "SKILL.md": MAIN },
    other: { "SKILL.md": text("---\nname: other\n---\n") },
  });

  it("give one value a skill, for every render the same", () => {
    expect(find("demo")).toBe(find("demo"));
  });

  it.each(["nope", "toString", "__proto__"])("have no %s, and say which there are", (name) => {
    expect(() => find(name)).toThrow(
      expect.objectContaining({
        type: "skill_definition_validation",
        message: `There is no packaged skill "${name}". Folders of worker/skills/: demo, other.`,
      }),
    );
  });

  it("name the file and the fault of a malformed one", () => {
    expect(() => find("other")).toThrow(
      expect.objectContaining({
        type: "skill_definition_validation",
        message: "worker/skills/other/SKILL.md: description is missing.",
      }),
    );
  });
});

describe("the overlay of packaged skills", () => {
  const skill = demo({ "ref/a b.md": text("l1\nl2"), "n.bin": { encoding: "base64", content: "AAEC".repeat(40) } });
  const { sandbox, log } = scriptedSandbox({ readFile: [{ result: "of the sandbox" }] });
  const overlaid = overlayPackagedSkills(sandbox, [skill]);
  const read = createSandboxTools(overlaid, { locks: createPathLocks() })[0];

  it("serves the files to read, and to whoever else reads through it", async () => {
    expect(await overlaid.readFile(packagedPath(skill, "ref/a b.md"))).toBe("l1\nl2");
    const answer = await read?.execute("c", { path: packagedPath(skill, "n.bin") });
    expect(answer?.content).toEqual([{ type: "text", text: expect.stringMatching(/^.{76}\n.{76}\n.{8}$/) }]);
    expect(log).toEqual([]);
  });

  it("refuses every other path below its prefix without asking the sandbox", async () => {
    for (const path of [
      "/.flue/packaged-skills/x",
      `${packagedPath(skill, "ref")}`,
      packagedPath(skill, "__proto__"),
    ]) {
      await expect(overlaid.readFile(path)).rejects.toThrow(`[flue] Packaged skill file not found: ${path}`);
    }
    expect(log).toEqual([]);
  });

  it("leaves other paths, other spellings and other verbs to the sandbox", async () => {
    expect(await overlaid.readFile("//.flue/packaged-skills/x")).toBe("of the sandbox");
    expect(await overlaid.readFile("a.txt")).toBe("of the sandbox");
    expect(overlaid.readFileBuffer).toBe(sandbox.readFileBuffer);
    expect(overlaid.exec).toBe(sandbox.exec);
  });

  it("shares the locks of the sandbox, so that two views of a file have one queue", async () => {
    const locks = createPathLocks();
    const held = Promise.withResolvers<void>();
    const order: string[] = [];
    const first = locks.hold(sandbox, "a", () => held.promise.then(() => void order.push("first")));
    const second = locks.hold(overlaid, "a", async () => void order.push("second"));
    held.resolve();
    await Promise.all([first, second]);
    expect(order).toEqual(["first", "second"]);
  });

  it("serves text without its byte order mark, and the instructions as they are", () => {
    const marked = demo({ "bom.md": text("\uFEFFx") });
    expect(readPackagedFile([marked], packagedPath(marked, "bom.md"))).toBe("x");
    expect(readPackagedFile([marked], packagedPath(marked, "SKILL.md"))).toBe(MAIN.content);
  });

  it("finds a file under the plain id too, never under another encoding of its own path", () => {
    expect(readPackagedFile([skill], `/.flue/packaged-skills/${skill.id}/ref/a b.md`)).toBe("l1\nl2");
    expect(() => readPackagedFile([skill], packagedPath(skill, "ref/a%20b.md"))).toThrow("not found");
  });
});

describe("activation", () => {
  const there: WorkspaceSkill = { name: "there", description: "w", directory: "/w/.agents/skills/there" };
  const skills = [demo(), there];
  const skillFile = (body: string) => `---\nname: there\ndescription: w\n---\n${body}`;

  it("of a packaged skill gives its instructions, and its files by path, in order", async () => {
    expect(await activateSkill(skills, "demo", undefined)).toBe(
      'Run the skill named "demo".\n\n<skill_instructions>\nBody\n</skill_instructions>',
    );
    const filed = demo({ "ref/a b.md": text("x"), "bom.md": text("x") });
    const below = `/.flue/packaged-skills/skill%3Ademo%3A${filed.id.slice(-16)}`;
    expect(await activateSkill([filed], "demo", undefined)).toBe(
      [
        'Run the skill named "demo".\n\n<skill_instructions>\nBody\n</skill_instructions>\n',
        "Supporting skill resources are available but are not loaded into context unless needed:",
        "<skill_resources>",
        `- bom.md → read_skill_resource ${below}/bom.md`,
        `- ref/a b.md → read_skill_resource ${below}/ref/a b.md`,
        "</skill_resources>",
      ].join("\n"),
    );
  });

  it("of a workspace skill names its directory in place of its files", async () => {
    const { sandbox } = scriptedSandbox({ readFile: [{ result: skillFile("Body **x**\n") }] });
    expect(await activateSkill(skills, "there", sandbox)).toBe(
      [
        'Run the skill named "there".\n\n<skill_instructions>\nBody **x**\n</skill_instructions>\n',
        "Supporting skill resources are available relative to this workspace skill directory but are not loaded into context unless needed:",
        "<skill_resources>",
        "- Base directory: /w/.agents/skills/there",
        "- Resolve relative resource paths from this directory and read only the files you need.",
        "</skill_resources>",
      ].join("\n"),
    );
  });

  it("of a name that is no skill's is an ordinary answer with those there are", async () => {
    expect(await activateSkill(skills, "x", undefined)).toBe(
      'Skill "x" is not available. Available skills: demo, there.',
    );
  });

  it("reads a workspace skill afresh each time", async () => {
    const { sandbox } = scriptedSandbox({ readFile: [{ result: skillFile("one") }, { result: skillFile("two") }] });
    expect(await activateSkill(skills, "there", sandbox)).toContain("<skill_instructions>\none\n</skill_instructions>");
    expect(await activateSkill(skills, "there", sandbox)).toContain("<skill_instructions>\ntwo\n</skill_instructions>");
  });

  it("of a workspace skill that was spoilt meanwhile names the file and the fault", async () => {
    const { sandbox } = scriptedSandbox({ readFile: [{ result: "spoilt" }, { error: "ENOENT: gone" }] });
    await expect(activateSkill(skills, "there", sandbox)).rejects.toThrow(
      "/w/.agents/skills/there/SKILL.md: it does not begin with front matter",
    );
    await expect(activateSkill(skills, "there", sandbox)).rejects.toThrow("ENOENT: gone");
  });

  it("cuts a huge workspace skill between characters and says where the rest is", async () => {
    const { sandbox } = scriptedSandbox({ readFile: [{ result: skillFile(`x${"😀".repeat(2_000_000)}`) }] });
    const answer = await activateSkill(skills, "there", sandbox);
    expect(answer.length).toBeLessThan(53_000);
    expect(answer.isWellFormed()).toBe(true);
    expect(answer).toContain("Read /w/.agents/skills/there/SKILL.md for the rest.]");
  });

  it("prefers a declared skill to one of the workspace with its name, and tells them apart", () => {
    const twin: WorkspaceSkill = { ...there, name: "demo" };
    const declared = [demo()];
    expect(liveSkills(declared, [twin, there])).toEqual([...declared, there]);
    expect(findShadowedSkills(declared, [twin, there])).toEqual([twin]);
  });
});
