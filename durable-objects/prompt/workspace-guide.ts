/** Section 2: the workspace's `AGENTS.md` (else `CLAUDE.md`). */
import type { PromptSection } from "./section.ts";

export const workspaceGuide: PromptSection = {
  id: "workspace-guide",
  render: (input) => input.workspace?.guide,
};
