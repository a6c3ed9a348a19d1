/** Section 7: where relative paths start. */
import type { PromptSection } from "./section.ts";

export const workingDirectory: PromptSection = {
  id: "working-directory",
  render: (input) => (input.workspace === undefined ? undefined : `Working directory: ${input.workspace.cwd}`),
};
