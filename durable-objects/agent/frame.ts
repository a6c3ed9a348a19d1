/**
 * The ambient frame of one render: where hooks record what an agent asked for.
 *
 * A render is synchronous, so one variable of the module is enough: `renderInFrame` sets it and takes it away again,
 * whatever the agent does. Nothing else writes it. A hook that finds no frame was called outside a render (in a callback,
 * after an `await`, at module load) and throws.
 *
 * Source: contract RUNTIME 4.
 */
import { BerthError } from "../protocol/errors.ts";
import type { Settings } from "../protocol/settings.ts";
import type { PackagedSkill } from "../skills/skill.ts";
import type { ModelChoice, SandboxChoice } from "./agent.ts";
import type { AuthoredTool } from "./author-tool.ts";
import { type EventHooks, noEventHooks } from "./event-hooks.ts";
import type { RenderRuntime } from "./render-runtime.ts";

export interface Frame {
  agent: string;
  settings: Settings;
  /** A delegate's render, in which the hooks of the whole conversation throw. */
  subagent: boolean;
  /** Absent in a bare render. */
  runtime: RenderRuntime | undefined;
  instructions: string[];
  tools: AuthoredTool[];
  skills: PackagedSkill[];
  model: ModelChoice | undefined;
  sandbox: SandboxChoice | undefined;
  /** Names of persistent state. */
  states: Set<string>;
  /** Names of data parts. */
  dataParts: string[];
  eventHooks: EventHooks;
}

let current: Frame | undefined;

export function createFrame(head: Pick<Frame, "agent" | "settings" | "subagent" | "runtime">): Frame {
  return {
    ...head,
    instructions: [],
    tools: [],
    skills: [],
    model: undefined,
    sandbox: undefined,
    states: new Set(),
    dataParts: [],
    eventHooks: noEventHooks(),
  };
}

export function isRendering(): boolean {
  return current !== undefined;
}

/** Runs one render with its frame in place. A render inside a render throws and names both agents. */
export function renderInFrame<T>(frame: Frame, render: () => T): T {
  if (current !== undefined) {
    throw authoringError(current.agent, `rendered agent "${frame.agent}" inside its own render. Renders do not nest.`);
  }
  current = frame;
  try {
    return render();
  } finally {
    current = undefined;
  }
}

/** The frame a hook records on. */
export function currentFrame(hook: string): Frame {
  if (current === undefined) {
    throw new BerthError(
      "operation_failed",
      `${hook}() was called outside the render of an agent. Call hooks synchronously in the agent function or in a custom hook it calls, not in callbacks and not after an await.`,
    );
  }
  return current;
}

/** A fault of the agent's author: reaches the caller of the submission as it is written here. */
export function authoringError(agent: string, what: string): BerthError {
  return new BerthError("operation_failed", `Agent "${agent}" ${what}`);
}
