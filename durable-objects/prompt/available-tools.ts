/** Section 5: the names of the tools, in tool order. */
import type { PromptSection } from "./section.ts";

export const availableTools: PromptSection = {
  id: "available-tools",
  render: (input) =>
    input.tools.length === 0 ? undefined : `## Available Tools\n\n${input.tools.map((name) => `- ${name}`).join("\n")}`,
};
