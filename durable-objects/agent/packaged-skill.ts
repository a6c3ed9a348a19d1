/**
 * `packagedSkill`: a skill that is a folder of `worker/skills/`, packed into the Worker by the build.
 *
 * Source: contract RUNTIME 8.
 */
import folders from "../../.berth/packaged-skills.json" with { type: "json" };
import { createPackagedSkills, type PackedFolders } from "../skills/packaged-skills.ts";
import type { PackagedSkill } from "../skills/skill.ts";

/** The folders there are: a misspelt one does not compile. */
export type PackagedSkillName = keyof typeof folders;

// The file is written by `worker/cli/pack-skills.mjs` in this very shape; JSON knows no literal types.
const find = createPackagedSkills(folders as PackedFolders);

/**
 * Gives the skill of that folder, to be passed to `useSkill`. Throws `skill_definition_validation` when there is none or
 * its `SKILL.md` is malformed.
 *
 * @example `useSkill(packagedSkill("review-changes"));`
 */
export function packagedSkill(name: PackagedSkillName): PackagedSkill {
  return find(name);
}
