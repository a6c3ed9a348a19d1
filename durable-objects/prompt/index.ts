/** The sections of the system prompt, in order. */
import { availableAgents } from "./available-agents.ts";
import { availableSkills } from "./available-skills.ts";
import { availableTools } from "./available-tools.ts";
import { date } from "./date.ts";
import { directoryStructure } from "./directory-structure.ts";
import { instructions } from "./instructions.ts";
import type { PromptSection } from "./section.ts";
import { workingDirectory } from "./working-directory.ts";
import { workspaceGuide } from "./workspace-guide.ts";

export const SECTIONS: readonly PromptSection[] = [
  instructions,
  workspaceGuide,
  availableSkills,
  availableAgents,
  availableTools,
  date,
  workingDirectory,
  directoryStructure,
];
