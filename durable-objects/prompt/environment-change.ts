/**
 * What a model is told when its environment is another one than the prompt says: what happened, then the environment in
 * full, in the words of the prompt's own sections.
 *
 * Source: contract RUNTIME 5 ("Signals on change").
 */
import { availableAgents } from "./available-agents.ts";
import { availableTools } from "./available-tools.ts";
import type { CatalogueEntry } from "./section.ts";
import { workingDirectory } from "./working-directory.ts";

export interface Environment {
  cwd: string;
  /** Tool names in tool order. */
  tools: readonly string[];
  agents: readonly CatalogueEntry[];
}

export const WORKSPACE_LOST =
  "The sandbox stopped and its workspace is lost: the files in it are gone and nothing that ran there runs any more. " +
  "The next command starts in a new, empty workspace.";

export function renderEnvironmentChange(what: string, { cwd, tools, agents }: Environment): string {
  const workspace = { cwd, entries: [], omitted: 0, skills: [], skippedSkills: [] };
  const input = { instructions: "", workspace, skills: [], tools, agents, now: 0 };
  const sections = [workingDirectory, availableTools, availableAgents].map((section) => section.render(input));
  return [what, ...sections.filter((text) => text !== undefined)].join("\n\n");
}
