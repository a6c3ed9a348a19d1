/**
 * The skills a model can activate now: those the render declared, then those of the workspace.
 *
 * A declared skill wins over one of the same name in the workspace: an author's instructions are not replaced by a file
 * that anybody may put into a repository.
 *
 * Source: contract RUNTIME 5, 8.
 */
import type { PackagedSkill, Skill, WorkspaceSkill } from "./skill.ts";

/** Workspace skills that a declared one of the same name stands before. */
export function findShadowedSkills(
  declared: readonly PackagedSkill[],
  discovered: readonly WorkspaceSkill[],
): WorkspaceSkill[] {
  const names = new Set(declared.map((skill) => skill.name));
  return discovered.filter((skill) => names.has(skill.name));
}

export function liveSkills(declared: readonly PackagedSkill[], discovered: readonly WorkspaceSkill[]): Skill[] {
  const shadowed = new Set(findShadowedSkills(declared, discovered));
  return [...declared, ...discovered.filter((skill) => !shadowed.has(skill))];
}
