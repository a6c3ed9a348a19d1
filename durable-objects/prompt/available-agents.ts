/** Section 4: who work can be handed to. Always there, so that the model knows when nobody is. */
import { type PromptSection, renderCatalogue } from "./section.ts";

const HEADING = "## Available Agents";
const NONE = "No agents are available for delegation. Do not call the `task` tool.";

export const availableAgents: PromptSection = {
  id: "available-agents",
  render: (input) => `${HEADING}\n\n${input.agents.length === 0 ? NONE : renderCatalogue(input.agents)}`,
};
