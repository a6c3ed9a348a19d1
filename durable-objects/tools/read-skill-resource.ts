/**
 * Reads a file of a packaged skill in pages. Mounted while a skill has one besides its instructions, with a sandbox or
 * without.
 *
 * Source: contract TOOLS 14.3.
 */
import { readPackagedFile } from "../skills/packaged-path.ts";
import type { PackagedSkill } from "../skills/skill.ts";
import { type DurableTool, defineTool } from "./define-tool.ts";
import { formatReadContent, parseLineRange, readParameters } from "./read-format.ts";

export function createReadSkillResourceTool(skills: readonly PackagedSkill[]): DurableTool {
  return defineTool({
    name: "read_skill_resource",
    label: "Read Skill Resource",
    description: "Read a packaged skill supporting file by its advertised path.",
    parameters: readParameters,
    replayPolicy: "rerun",
    async run({ args }) {
      const range = parseLineRange(args.offset, args.limit);
      return formatReadContent(args.path, readPackagedFile(skills, args.path), range);
    },
  });
}
