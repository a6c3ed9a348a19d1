/** Section 8: what lies in the working directory, one level. */
import type { PromptSection } from "./section.ts";

export const directoryStructure: PromptSection = {
  id: "directory-structure",
  render(input) {
    if (input.workspace === undefined) return undefined;
    const { entries, omitted } = input.workspace;
    const lines = ["Directory structure:", ...(entries.length === 0 ? ["(empty)"] : entries)];
    if (omitted > 0) lines.push(`(${omitted} more not shown)`);
    return lines.join("\n");
  },
};
