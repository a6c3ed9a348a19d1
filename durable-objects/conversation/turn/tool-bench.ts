/**
 * The tools of an attempt as the loop may run them: assembled in the contract's order, at most eight at once, abandoned
 * one macrotask after an abort.
 *
 * Source: contract RUNTIME 2.7, 2.8, 4 (tool order); TOOLS 10, 14.
 */
import type { Sandbox } from "../../../containers/sandbox.ts";
import { isSandboxDied } from "../../../containers/sandbox-died-error.ts";
import type { RenderedAgent } from "../../agent/agent.ts";
import type { AuthoredTool } from "../../agent/author-tool.ts";
import type { HarnessSource } from "../../agent/harness-source.ts";
import { BerthError } from "../../protocol/errors.ts";
import { INTERRUPTED_RESULT } from "../../protocol/interrupted.ts";
import { MAX_PARALLEL_TOOLS } from "../../protocol/limits.ts";
import { activateSkill } from "../../skills/activate-skill.ts";
import { liveSkills } from "../../skills/live-skills.ts";
import { overlayPackagedSkills } from "../../skills/overlay-packaged-skills.ts";
import { listResources, type WorkspaceSkill } from "../../skills/skill.ts";
import { abandonToolOnAbort } from "../../tools/abandon-on-abort.ts";
import type { DurableTool } from "../../tools/define-tool.ts";
import {
  createActivateSkillTool,
  createReadSkillResourceTool,
  createSandboxTools,
  throwIfReserved,
} from "../../tools/index.ts";
import type { PathLocks } from "../../tools/path-lock.ts";
import { createTaskTool } from "../../tools/task.ts";
import type { CallNotes } from "./call-notes.ts";

/** Lets `limit` holders in at a time, the others in the order they came. */
export function createGate(limit: number): <T>(work: () => Promise<T>) => Promise<T> {
  const waiting: (() => void)[] = [];
  let inside = 0;
  return async (work) => {
    if (inside >= limit) await new Promise<void>((enter) => waiting.push(enter));
    else inside++;
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else inside--;
    }
  };
}

/** What tools lean on while they run. */
export interface Equipment {
  locks: PathLocks;
  notes: CallNotes;
  harnesses: HarnessSource;
  workspaceSkills: readonly WorkspaceSkill[];
}

export function equipTool(tool: AuthoredTool, { notes, harnesses }: Equipment): DurableTool {
  const stepped = tool.withSteps?.(notes.steps) ?? tool;
  return stepped.withHarness?.(harnesses) ?? stepped;
}

/**
 * The framework's tools for the skills of this render: none without a skill, with a sandbox or without one.
 *
 * @param sandbox the real one: packaged files are not looked for in it, and a workspace skill is read from it each time.
 */
function skillTools(
  { skills: declared }: RenderedAgent,
  sandbox: Sandbox | undefined,
  discovered: readonly WorkspaceSkill[],
): DurableTool[] {
  const skills = liveSkills(declared, sandbox ? discovered : []);
  if (skills.length === 0) return [];
  const activate = createActivateSkillTool((name) => activateSkill(skills, name, sandbox));
  const hasResources = declared.some((skill) => listResources(skill).length > 0);
  return hasResources ? [activate, createReadSkillResourceTool(declared)] : [activate];
}

/**
 * A factory's `tools` replaces the six; the framework's own are appended to either.
 *
 * @param sandbox present iff the render mounts one.
 */
export function assembleTools(
  rendered: RenderedAgent,
  sandbox: Sandbox | undefined,
  equipment: Equipment,
): DurableTool[] {
  const { locks, notes, workspaceSkills } = equipment;
  const subagents: string[] = [];
  const env = sandbox && rendered.skills.length > 0 ? overlayPackagedSkills(sandbox, rendered.skills) : sandbox;
  const own = env
    ? (replacedTools(rendered, env, subagents) ?? createSandboxTools(env, { locks, notes: notes.intents }))
    : [];
  for (const { name } of own) throwIfReserved(name);
  const tools = [
    ...own,
    createTaskTool({ available: () => subagents }),
    ...skillTools(rendered, sandbox, workspaceSkills),
    ...rendered.tools.map((tool) => equipTool(tool, equipment)),
  ];
  throwIfNamedTwice(tools);
  return tools;
}

export function throwIfNamedTwice(tools: readonly DurableTool[]): void {
  const seen = new Set<string>();
  for (const { name } of tools) {
    if (seen.has(name)) throw new BerthError("tool_name_conflict", `Duplicate tool name "${name}".`);
    seen.add(name);
  }
}

/** A factory's own tools are pi's; without a replay policy they count as `unknown`. */
function replacedTools(rendered: RenderedAgent, sandbox: Sandbox, subagents: string[]): DurableTool[] | undefined {
  const factory = rendered.sandbox?.factory;
  // Called as a method: a factory may be an object with state.
  const tools: unknown = factory?.tools?.(sandbox, { subagents });
  if (factory?.tools === undefined) return undefined;
  if (!Array.isArray(tools) || !tools.every(isTool)) {
    throw new BerthError("operation_failed", "[flue] useSandbox() sandbox `tools` must return an array of tools.");
  }
  return tools;
}

function isTool(value: unknown): value is DurableTool {
  return (
    typeof value === "object" &&
    value !== null &&
    typeof Reflect.get(value, "name") === "string" &&
    typeof Reflect.get(value, "execute") === "function"
  );
}

export function guardTools(tools: readonly DurableTool[], enter = createGate(MAX_PARALLEL_TOOLS)): DurableTool[] {
  return tools.map((tool) => {
    const abandonable = abandonToolOnAbort(tool);
    return {
      ...abandonable,
      execute: (id, args, signal, onUpdate) =>
        enter(() => abandonable.execute(id, args, signal, onUpdate)).catch((error: unknown) => {
          // The machine is gone with all that could tell what the call did.
          throw isSandboxDied(error) ? new Error(INTERRUPTED_RESULT, { cause: error }) : error;
        }),
    };
  });
}
