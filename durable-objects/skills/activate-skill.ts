/**
 * What a model reads when it activates a skill: the instructions, and where the other files are.
 *
 * A workspace skill is read from its file each time, so that an edit counts at once; its instructions are cut where a
 * `read` would cut them, for anybody may have written that file.
 *
 * Source: contract TOOLS 14.2.
 */
import type { Sandbox } from "../../containers/sandbox.ts";
import { MAX_SKILL_INSTRUCTION_UNITS } from "../protocol/limits.ts";
import { packagedPath } from "./packaged-path.ts";
import { parseSkill } from "./parse-skill.ts";
import {
  isWorkspaceSkill,
  listResources,
  type PackagedSkill,
  SKILL_FILE,
  type Skill,
  type WorkspaceSkill,
} from "./skill.ts";

function renderInstructions(name: string, instructions: string): string {
  return `Run the skill named "${name}".\n\n<skill_instructions>\n${instructions}\n</skill_instructions>`;
}

function renderResources(where: string, lines: readonly string[]): string {
  const notice = `Supporting skill resources are available ${where}but are not loaded into context unless needed:`;
  return [notice, "<skill_resources>", ...lines.map((line) => `- ${line}`), "</skill_resources>"].join("\n");
}

function activatePackaged(skill: PackagedSkill): string {
  const instructions = renderInstructions(skill.name, skill.instructions);
  const files = listResources(skill);
  if (files.length === 0) return instructions;
  const lines = files.map((file) => `${file} → read_skill_resource ${packagedPath(skill, file)}`);
  return `${instructions}\n\n${renderResources("", lines)}`;
}

/** Whole characters; the note says where the rest is. */
function cutInstructions(instructions: string, path: string): string {
  if (instructions.length <= MAX_SKILL_INSTRUCTION_UNITS) return instructions;
  const head = instructions.slice(0, MAX_SKILL_INSTRUCTION_UNITS).replace(/[\uD800-\uDBFF]$/, "");
  return `${head}\n\n[The instructions are longer than ${MAX_SKILL_INSTRUCTION_UNITS} characters and are cut here. Read ${path} for the rest.]`;
}

async function activateWorkspace({ name, directory }: WorkspaceSkill, sandbox: Sandbox): Promise<string> {
  const path = `${directory}/${SKILL_FILE}`;
  const text = await sandbox.readFile(path);
  let instructions: string;
  try {
    instructions = parseSkill(text, name).instructions;
  } catch (error) {
    throw new Error(`${path}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
  const lines = [
    `Base directory: ${directory}`,
    "Resolve relative resource paths from this directory and read only the files you need.",
  ];
  return `${renderInstructions(name, cutInstructions(instructions, path))}\n\n${renderResources("relative to this workspace skill directory ", lines)}`;
}

/**
 * A name that is no skill's is an ordinary answer that lists those there are; a workspace skill that cannot be read any
 * more throws.
 *
 * @param sandbox absent: there are no workspace skills either.
 */
export async function activateSkill(
  skills: readonly Skill[],
  name: string,
  sandbox: Sandbox | undefined,
): Promise<string> {
  const skill = skills.find((candidate) => candidate.name === name);
  if (skill && !isWorkspaceSkill(skill)) return activatePackaged(skill);
  if (skill && sandbox) return activateWorkspace(skill, sandbox);
  const names = skills.map((candidate) => candidate.name).join(", ");
  return `Skill "${name}" is not available. Available skills: ${names}.`;
}
