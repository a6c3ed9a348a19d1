/** Skills of a workspace as discovery finds them over every driver, and reported faults of their kind. */
import { describe, expect, it } from "vitest";
import { discoverWorkspace } from "../../durable-objects/prompt/discovery.ts";
import { discoverSkillsByVerbs } from "../../durable-objects/prompt/skill-discovery.ts";
import { activateSkill } from "../../durable-objects/skills/activate-skill.ts";
import { createReadTool } from "../../durable-objects/tools/index.ts";
import type { OpenSandbox } from "./drivers/contract-driver.ts";
import { contractDrivers } from "./drivers/index.ts";

/** Drivers with another way by themselves show that the verbs come to the same. */
const ALSO_BY_VERBS = ["bash", "local"];

function skill(name: string, description: string, body = "BODY\n"): string {
  return `---\nname: ${name}\ndescription: ${description}\n---\n${body}`;
}

function put({ putFile }: OpenSandbox, path: string, content: string | Uint8Array): Promise<void> {
  return putFile(`/workspace/${path}`, typeof content === "string" ? Buffer.from(content) : content);
}

const fileOf = (name: string) => `.agents/skills/${name}/SKILL.md`;

describe.each(contractDrivers)("skills over $name", (driver) => {
  const ways = ALSO_BY_VERBS.includes(driver.name) ? [false, true] : [false];
  describe.each(ways)("by file verbs: %s", (isByVerbs) => {
    /** In a fresh workspace. */
    async function inWorkspace(play: (open: OpenSandbox) => Promise<void>): Promise<void> {
      const open = await driver.open({ cwd: "/workspace", ripgrep: true });
      try {
        await play(open);
      } finally {
        await open.close();
      }
    }

    async function discover({ sandbox }: OpenSandbox) {
      const { skills, skippedSkills } = await (isByVerbs ? discoverSkillsByVerbs(sandbox) : discoverWorkspace(sandbox));
      return { names: skills.map(({ name }) => name), skills, skipped: skippedSkills };
    }

    it("are found with name, description and directory, sorted, beside guide and names", () =>
      inWorkspace(async (open) => {
        await put(open, fileOf("zeta"), skill("zeta", "Last."));
        await put(open, fileOf("alpha"), `\uFEFF${skill("alpha", "First.").replaceAll("\n", "\r\n")}`);
        await put(open, "AGENTS.md", "Use tabs.");
        const { skills, skipped } = await discover(open);
        expect(skipped).toEqual([]);
        const below = open.sandbox.resolvePath(".agents/skills");
        expect(skills).toEqual([
          { name: "alpha", description: "First.", directory: `${below}/alpha` },
          { name: "zeta", description: "Last.", directory: `${below}/zeta` },
        ]);
        const { guide, entries } = await discoverWorkspace(open.sandbox);
        expect(guide).toBe("Use tabs.");
        expect(entries).toEqual(expect.arrayContaining([".agents/", "AGENTS.md"]));
      }));

    it("are none where there is no folder, an empty one, or one without a SKILL.md", () =>
      inWorkspace(async (open) => {
        expect(await discover(open)).toEqual({ names: [], skills: [], skipped: [] });
        await put(open, ".agents/skills/README.md", "about");
        await put(open, ".agents/skills/notes/skill.txt", "x");
        expect(await discover(open)).toEqual({ names: [], skills: [], skipped: [] });
      }));

    it("with a colon in their description are there with all of it (skills-01)", () =>
      inWorkspace(async (open) => {
        await put(open, fileOf("good"), skill("good", "fine"));
        await put(open, fileOf("tidy"), skill("tidy", "For old code: finishing work, never new."));
        expect((await discover(open)).skills).toMatchObject([
          { name: "good", description: "fine" },
          { name: "tidy", description: "For old code: finishing work, never new." },
        ]);
      }));

    it("keep the rules in their text (skills-03)", () =>
      inWorkspace(async (open) => {
        await put(open, fileOf("hr"), skill("hr", "has rules", "PART-1\n\n---\n\nPART-2\n---\nPART-3\n"));
        const { skills } = await discover(open);
        const answer = await activateSkill(skills, "hr", open.sandbox);
        expect(answer).toContain("PART-1\n\n---\n\nPART-2\n---\nPART-3");
        expect(answer).toContain(`- Base directory: ${open.sandbox.resolvePath(".agents/skills/hr")}`);
      }));

    it("lie one level deep; a sample below one is a file to read (skills-05)", () =>
      inWorkspace(async (open) => {
        await put(open, fileOf("good"), skill("good", "fine"));
        const sample = ".agents/skills/good/samples/inner/SKILL.md";
        await put(open, sample, skill("inner", "sample", "x"));
        await put(open, "sub/.agents/skills/deep/SKILL.md", skill("deep", "of another directory"));
        expect(await discover(open)).toMatchObject({ names: ["good"], skipped: [] });
        const read = await createReadTool(open.sandbox).execute("c", { path: sample });
        expect(read.content).toEqual([{ type: "text", text: skill("inner", "sample", "x") }]);
      }));

    it("that are malformed are skipped with file and fault, and take no other with them", () =>
      inWorkspace(async (open) => {
        await put(open, fileOf("good"), skill("good", "fine"));
        await put(open, fileOf("plain"), "# no front matter\n");
        await put(open, fileOf("empty"), "");
        await put(open, fileOf("alias"), skill("other", "fine"));
        await put(open, fileOf("open"), "---\nname: open\ndescription: d\n");
        await put(open, fileOf("binary"), Uint8Array.of(0, 255, 254, 10, 0));
        await put(open, fileOf("My Skill"), skill("My Skill", "fine"));
        const { names, skipped } = await discover(open);
        expect(names).toEqual(["good"]);
        expect(skipped).toEqual([
          { path: fileOf("My Skill"), reason: expect.stringContaining('name "My Skill" is not allowed') },
          { path: fileOf("alias"), reason: 'name "other" is not the name of its folder, "alias".' },
          { path: fileOf("binary"), reason: expect.stringContaining("does not begin with front matter") },
          { path: fileOf("empty"), reason: expect.stringContaining("does not begin with front matter") },
          { path: fileOf("open"), reason: expect.stringContaining("has no end") },
          { path: fileOf("plain"), reason: expect.stringContaining("does not begin with front matter") },
        ]);
      }));

    it("are read no further than their front matter, however large they are", () =>
      inWorkspace(async (open) => {
        await put(open, fileOf("large"), skill("large", "fine", "x".repeat(3_000_000)));
        await put(open, fileOf("endless"), `---\nname: endless\n${"# x\n".repeat(5000)}description: d\n---\nBody`);
        const { names, skipped } = await discover(open);
        expect(names).toEqual(["large"]);
        expect(skipped).toEqual([
          { path: fileOf("endless"), reason: expect.stringContaining("does not end within 16384 bytes") },
        ]);
        const { entries } = await discoverWorkspace(open.sandbox);
        expect(entries).toEqual([".agents/"]);
      }));

    it("behind a link are not followed, and that is said", () =>
      inWorkspace(async (open) => {
        await put(open, "elsewhere/SKILL.md", skill("linked", "fine"));
        await put(open, fileOf("good"), skill("good", "fine"));
        await open.run("ln -s ../../elsewhere .agents/skills/linked");
        await open.run("mkdir .agents/skills/half && ln -s ../../../elsewhere/SKILL.md .agents/skills/half/SKILL.md");
        const { names, skipped } = await discover(open);
        expect(names).toEqual(["good"]);
        expect(skipped.map(({ path }) => path)).toEqual([fileOf("half"), fileOf("linked")]);
        for (const { reason } of skipped) expect(reason).toContain("symbolic link");
        await open.run("mv .agents/skills real && ln -s ../real .agents/skills");
        expect(await discover(open)).toMatchObject({ names: [], skipped: [{ path: ".agents/skills" }] });
      }));

    it("above 200 are left out, and how many is said", () =>
      inWorkspace(async (open) => {
        await open.run(
          "mkdir -p $(seq 1000 1204 | sed 's|^|.agents/skills/s|'); for i in $(seq 1000 1204); do printf -- '---\\nname: s%s\\ndescription: d\\n---\\n' $i > .agents/skills/s$i/SKILL.md; done",
        );
        const { names, skipped } = await discover(open);
        expect([names.length, names[0], names.at(-1)]).toEqual([200, "s1000", "s1199"]);
        expect(skipped).toEqual([{ path: ".agents/skills", reason: expect.stringContaining("5 more folders") }]);
      }));
  });
});
