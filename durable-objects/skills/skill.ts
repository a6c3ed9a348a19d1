/**
 * What a skill is: instructions a model loads when a task calls for them, known to it by one catalogue line until then.
 *
 * Source: contract RUNTIME 8; the Agent Skills format.
 */

/** The instructions of a skill, and the file whose presence makes a folder one. */
export const SKILL_FILE = "SKILL.md";

/** A file of a packaged skill. Text is kept as it was, a byte order mark included. */
export interface SkillFile {
  encoding: "text" | "base64";
  content: string;
}

/** A skill that is part of the deployment: a folder of `worker/skills/`, or one defined in code. */
export interface PackagedSkill {
  /** `skill:<name>:<16 hex>` of its content: another content is another id. */
  readonly id: string;
  readonly name: string;
  /** One line. */
  readonly description: string;
  /** The body of its `SKILL.md`, trimmed. */
  readonly instructions: string;
  /** By path relative to the skill's folder, `SKILL.md` included. */
  readonly files: ReadonlyMap<string, SkillFile>;
}

/** A skill that lies in the sandbox, as discovery found it. Plain data: it is stored with the frozen prompt. */
export interface WorkspaceSkill {
  readonly name: string;
  /** One line. */
  readonly description: string;
  /** Absolute. */
  readonly directory: string;
}

export type Skill = PackagedSkill | WorkspaceSkill;

export function isWorkspaceSkill(skill: Skill): skill is WorkspaceSkill {
  return "directory" in skill;
}

/** The files beside the instructions, in the order they are shown. */
export function listResources(skill: PackagedSkill): string[] {
  return [...skill.files.keys()].filter((path) => path !== SKILL_FILE).sort();
}
