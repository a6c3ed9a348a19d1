/** Section 1: the agent's own instruction document. */
import type { PromptSection } from "./section.ts";

export const instructions: PromptSection = {
  id: "instructions",
  render: (input) => input.instructions,
};
