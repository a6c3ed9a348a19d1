/**
 * What a model is told when its environment is another one than the prompt says: what happened, then the environment in
 * full, in the words of the prompt's own sections.
 *
 * Source: contract RUNTIME 5 ("Signals on change").
 */
import type { Surface } from "../protocol/surface.ts";
import { availableAgents } from "./available-agents.ts";
import { availableTools } from "./available-tools.ts";
import { renderCatalogue } from "./section.ts";
import { workingDirectory } from "./working-directory.ts";

export type EnvironmentChange = "attached" | "detached" | "replaced" | "moved" | "lost";

export const WORKSPACE_LOST =
  "The sandbox stopped and its workspace is lost: the files in it are gone and nothing that ran there runs any more. " +
  "The next command starts in a new, empty workspace.";

const WHAT_HAPPENED: Readonly<Record<EnvironmentChange, string>> = {
  attached: "A sandbox is attached now: there are files and a shell to work with.",
  detached:
    "The sandbox is no longer attached: its files and whatever runs in it are out of reach. " +
    "What was read from it may be out of date when one is attached again.",
  replaced:
    "The sandbox is another one now: files, directories and running commands of the one before are out of reach. " +
    "Look again before relying on what was read there.",
  moved: "The working directory is another one now. Relative paths start there.",
  lost: WORKSPACE_LOST,
};

const NO_SANDBOX = "There is no sandbox: no tool reads files or runs commands.";

export function renderEnvironmentChange(change: EnvironmentChange, surface: Surface): string {
  const { sandbox, tools, skills, agents } = surface;
  const workspace = sandbox && { cwd: sandbox.cwd, entries: [], omitted: 0 };
  const input = {
    instructions: "",
    tools: tools.map(({ name }) => name),
    agents,
    now: 0,
    ...(workspace && { workspace }),
  };
  const sections = [availableTools, availableAgents].map((section) => section.render(input));
  const where = workingDirectory.render(input) ?? NO_SANDBOX;
  const skillList = skills.length === 0 ? [] : [`## Available Skills\n\n${renderCatalogue(skills)}`];
  return [WHAT_HAPPENED[change], where, ...skillList, ...sections.filter((text) => text !== undefined)].join("\n\n");
}
