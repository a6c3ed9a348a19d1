/** What all harnesses of one level of an attempt share. Source: contract RUNTIME 4 ("Harness"), 7 (depth). */
import type { CompactionChoice } from "../../agent/agent.ts";
import type { ThinkingLevel } from "../../agent/thinking-level.ts";
import type { ResolvedModel } from "../../models/model.ts";
import type { WorkspaceSkill } from "../../skills/skill.ts";
import type { AttachedSandbox } from "./environment.ts";
import type { AttemptPorts } from "./ports.ts";

export interface HarnessEnvironment {
  ports: AttemptPorts;
  /** Of the conversation whose calls ask for harnesses; the root's is 0. */
  depth: number;
  /** The agent's own, for prompts that name no other. */
  model: ResolvedModel;
  thinkingLevel: ThinkingLevel;
  compaction: CompactionChoice | undefined;
  /** The agent's sandbox, where it has one at the moment. */
  readAttached(): AttachedSandbox | undefined;
  /** The skills of its workspace. */
  readWorkspaceSkills(): readonly WorkspaceSkill[];
}
