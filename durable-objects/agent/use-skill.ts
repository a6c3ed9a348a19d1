/**
 * `useSkill`: a skill the model may activate: one line in its catalogue until it does.
 *
 * May be called conditionally and in a subagent's render; the set is read afresh at every render.
 *
 * Source: contract RUNTIME 4, 8.
 */
import { BerthError } from "../protocol/errors.ts";
import { packageDefinition, type SkillDefinition } from "../skills/package-definition.ts";
import { isPackagedSkill } from "../skills/package-skill.ts";
import type { PackagedSkill } from "../skills/skill.ts";
import { findDefinitionFault, isDefinedSkill } from "./define-skill.ts";
import { authoringError, currentFrame } from "./frame.ts";

/** A result of `defineSkill` is packaged once, not at every render. */
const packagedDefinitions = new WeakMap<object, PackagedSkill>();

function packageOf(agent: string, skill: unknown): PackagedSkill {
  if (isPackagedSkill(skill)) return skill;
  if (isDefinedSkill(skill)) {
    const packaged = packagedDefinitions.get(skill) ?? packageDefinition(skill);
    packagedDefinitions.set(skill, packaged);
    return packaged;
  }
  const fault = findDefinitionFault(skill);
  if (fault !== undefined) {
    throw new BerthError("skill_definition_validation", `Agent "${agent}" misused useSkill(): ${fault}`);
  }
  // Checked just now.
  return packageDefinition(skill as SkillDefinition);
}

/**
 * Offers a skill for this render: a folder of `worker/skills/`, a skill of `defineSkill`, or a definition as it stands.
 * A name may stand once.
 *
 * @example
 * ```ts
 * export const reviewer: Agent = ({ id }) => {
 *   useModel(defaultModel());
 *   useSkill(packagedSkill("review-changes"));
 *   if (id.startsWith("release-")) useSkill(releaseNotes);
 *   return "You review code.";
 * };
 * ```
 */
export function useSkill(skill: PackagedSkill | SkillDefinition): void {
  const frame = currentFrame("useSkill");
  const packaged = packageOf(frame.agent, skill);
  if (frame.skills.some((other) => other.name === packaged.name)) {
    throw authoringError(
      frame.agent,
      `misused useSkill(): the skill "${packaged.name}" was mounted twice in one render.`,
    );
  }
  frame.skills.push(packaged);
}
