/** The vectors of `activate_skill` and `read_skill_resource`: their skills, and the tool over them. */

import { activateSkill } from "../../durable-objects/skills/activate-skill.ts";
import { packageSkill } from "../../durable-objects/skills/package-skill.ts";
import type { PackagedSkill, Skill, SkillFile } from "../../durable-objects/skills/skill.ts";
import type { DurableTool } from "../../durable-objects/tools/define-tool.ts";
import { createActivateSkillTool, createReadSkillResourceTool } from "../../durable-objects/tools/index.ts";
import { scriptedSandbox } from "./drivers/scripted.ts";
import type { Outcome, Vector, VectorSkill } from "./vector.ts";

type Run = (tool: DurableTool, params: Record<string, unknown>, signal: AbortSignal) => Promise<Outcome>;

const WORKSPACE_SKILL = "---\nname: demo\ndescription: d\n---\n\nBody **x**\n";
const PLAIN_SKILL: SkillFile = { encoding: "text", content: "---\nname: demo\ndescription: d\n---\nBody\n" };

function packageVector({ id, name, files }: VectorSkill): PackagedSkill {
  const fileOf = ({ kind, content }: VectorSkill["files"][string]): SkillFile =>
    kind === "binary"
      ? { encoding: "base64", content }
      : { encoding: "text", content: Buffer.from(content, "base64").toString("utf8") };
  const packed = new Map(Object.entries(files).map(([path, file]) => [path, fileOf(file)]));
  return { ...packageSkill(name, packed), id };
}

/** What each vector leaves to who replays it. */
function skillsOf({ id, setup }: Vector): Skill[] {
  if (id === "workspace-skill-prompt") {
    return [{ name: "demo", description: "d", directory: "/workspace/.agents/skills/demo" }];
  }
  if (id === "packaged-skill-prompt-no-resources") return [packageSkill("demo", new Map([["SKILL.md", PLAIN_SKILL]]))];
  return Object.values(setup?.skills ?? {}).map(packageVector);
}

function toolOf(vector: Vector): DurableTool {
  const packaged = Object.values(vector.setup?.skills ?? {}).map(packageVector);
  if (vector.tool === "read_skill_resource") return createReadSkillResourceTool(packaged);
  // The text is whatever the engine gives.
  if (vector.id === "activate-basic") return createActivateSkillTool(async (name) => `activated ${name}`);
  const { sandbox } = scriptedSandbox({ readFile: [{ result: WORKSPACE_SKILL }] });
  return createActivateSkillTool((name) => activateSkill(skillsOf(vector), name, sandbox));
}

export function replaySkillTool(vector: Vector, run: Run): Promise<Outcome> {
  const controller = new AbortController();
  if (vector.abort) controller.abort();
  return run(toolOf(vector), vector.params ?? {}, controller.signal);
}
