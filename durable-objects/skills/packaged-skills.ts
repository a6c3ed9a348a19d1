/**
 * The skills that were packed with the deployment, each read and checked at its first use and kept for the isolate's
 * life.
 *
 * Source: contract RUNTIME 8.
 */
import { BerthError } from "../protocol/errors.ts";
import { packageSkill } from "./package-skill.ts";
import { type PackagedSkill, SKILL_FILE, type SkillFile } from "./skill.ts";

/** Skill by name, file by path: what `worker/cli/pack-skills.mjs` writes. */
export type PackedFolders = Readonly<Record<string, Readonly<Record<string, SkillFile>>>>;

/** Gives a skill by name; throws for one that was not packed, and for a `SKILL.md` that is malformed. */
export function createPackagedSkills(folders: PackedFolders): (name: string) => PackagedSkill {
  const loaded = new Map<string, PackagedSkill>();
  const load = (name: string): PackagedSkill => {
    const files = Object.hasOwn(folders, name) ? folders[name] : undefined;
    if (!files) {
      const names = Object.keys(folders).sort().join(", ") || "(none)";
      const text = `There is no packaged skill "${name}". Folders of worker/skills/: ${names}.`;
      throw new BerthError("skill_definition_validation", text);
    }
    try {
      return packageSkill(name, new Map(Object.entries(files)));
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      throw new BerthError("skill_definition_validation", `worker/skills/${name}/${SKILL_FILE}: ${reason}`);
    }
  };
  return (name) => {
    const skill = loaded.get(name) ?? load(name);
    loaded.set(name, skill);
    return skill;
  };
}
