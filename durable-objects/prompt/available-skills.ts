/** Section 3: the skills that can be activated, if there are any. */
import { type PromptSection, renderCatalogue } from "./section.ts";

const HOW =
  "Before work that matches one of these descriptions, call `activate_skill` with its name to load its instructions.";

export const availableSkills: PromptSection = {
  id: "available-skills",
  render: (input) =>
    input.skills.length === 0 ? undefined : `## Available Skills\n\n${HOW}\n\n${renderCatalogue(input.skills)}`,
};
