/**
 * The catalogue of tools, in the order in which a model is given them.
 *
 * Source: contract TOOLS 1.
 */
import type { Sandbox } from "../../containers/sandbox.ts";
import { createBashTool } from "./bash.ts";
import type { DurableTool } from "./define-tool.ts";
import { createEditTool } from "./edit.ts";
import { createGlobTool } from "./glob.ts";
import { createGrepTool } from "./grep.ts";
import { type PathLocks, sharedPathLocks } from "./path-lock.ts";
import { createReadTool } from "./read.ts";
import type { IntentNotes } from "./reconciled-write.ts";
import { createWriteTool } from "./write.ts";

export { createActivateSkillTool } from "./activate-skill.ts";
export { createBashTool, formatBashResult } from "./bash.ts";
export { createEditTool } from "./edit.ts";
export { createGlobTool } from "./glob.ts";
export { createGrepTool } from "./grep.ts";
export { createPathLocks, type PathLocks } from "./path-lock.ts";
export { createReadTool } from "./read.ts";
export { createReadSkillResourceTool } from "./read-skill-resource.ts";
export type { IntentNotes } from "./reconciled-write.ts";
export { throwIfReserved } from "./reserved-names.ts";
export { createResultTools, type ResultTools } from "./result-tools.ts";
export { createTaskTool, type TaskRoster } from "./task.ts";
export { createWriteTool } from "./write.ts";

const FILE_TOOLS = [createReadTool, createWriteTool, createEditTool];
const SHELL_TOOLS = [createBashTool, createGrepTool, createGlobTool];

/** The tools over a sandbox; those that run commands only where it has a shell. */
export function createSandboxTools(
  env: Sandbox,
  { locks = sharedPathLocks, notes }: { locks?: PathLocks; notes?: IntentNotes } = {},
): DurableTool[] {
  const files = FILE_TOOLS.map((create) => create(env, locks, notes));
  return typeof env.exec === "function" ? [...files, ...SHELL_TOOLS.map((create) => create(env))] : files;
}
