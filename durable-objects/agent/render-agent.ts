/**
 * Renders an agent: calls its function once with a fresh frame and checks what came of it.
 *
 * Pure: it reads settings, it writes nothing, it awaits nothing. Everything it throws names the agent.
 *
 * Source: contract RUNTIME 4.
 */
import { BerthError } from "../protocol/errors.ts";
import type { Settings } from "../protocol/settings.ts";
import type { RegisteredAgent, RenderedAgent } from "./agent.ts";
import { authoringError, createFrame, renderInFrame } from "./frame.ts";
import type { RenderRuntime } from "./render-runtime.ts";

export interface RenderContext {
  /** The conversation's id. */
  id: string;
  settings: Settings;
  /** Renders a delegate, in which hooks of the whole conversation throw and no model is asked for. */
  subagent?: true;
  /** Absent in a bare render. */
  runtime?: RenderRuntime;
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === "object" && value !== null && "then" in value && typeof value.then === "function";
}

/** A throw of the author's own is told as a fault of this agent; its text stays in the log, for it may hold anything. */
function callAgent({ name, agent }: RegisteredAgent, id: string): unknown {
  try {
    return agent({ id });
  } catch (error) {
    if (error instanceof BerthError) throw error;
    throw new BerthError("operation_failed", `Agent "${name}" threw in its render. The log says more.`, {
      cause: error,
    });
  }
}

/** What the agent asked for in this render. */
export function renderAgent(entry: RegisteredAgent, context: RenderContext): RenderedAgent {
  const { settings, runtime } = context;
  const frame = createFrame({ agent: entry.name, settings, subagent: context.subagent === true, runtime });
  const returned: unknown = renderInFrame(frame, () => callAgent(entry, context.id));
  if (isThenable(returned)) {
    // The promise's own fault would surface as an unhandled rejection beside the error below.
    returned.then(undefined, () => {});
    throw authoringError(
      entry.name,
      "is an async function. An agent is synchronous: it renders before every model request.",
    );
  }
  if (returned !== undefined && typeof returned !== "string") {
    throw authoringError(
      entry.name,
      `must return a string or nothing, not ${returned === null ? "null" : typeof returned}.`,
    );
  }
  if (frame.model === undefined && !frame.subagent) {
    throw authoringError(entry.name, "did not call useModel(). Call it exactly once in every render.");
  }
  const parts =
    returned === undefined || returned.trim() === "" ? frame.instructions : [returned, ...frame.instructions];
  const rendered: RenderedAgent = {
    instructions: parts.join("\n\n"),
    model: frame.model ?? { spec: context.settings.model, thinkingLevel: "medium" },
    tools: frame.tools,
    skills: frame.skills,
    dataParts: frame.dataParts,
    eventHooks: frame.eventHooks,
  };
  if (frame.sandbox !== undefined) rendered.sandbox = frame.sandbox;
  return rendered;
}
