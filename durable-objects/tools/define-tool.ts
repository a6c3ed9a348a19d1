/**
 * How a tool is declared: pi's tool value, its schema in TypeBox, and beside it the policy by which a call that a crash
 * interrupted is resolved.
 *
 * Arguments are converted and validated by pi's loop before a tool runs; it also drops `null` for an optional parameter,
 * at any depth (D11). Text that leaves a tool is well-formed Unicode (D1).
 *
 * Source: contract TOOLS 1, 2, 10; RUNTIME 2.6.
 */
import type { AgentTool, AgentToolResult } from "@earendil-works/pi-agent-core";
import type { Static, TObject } from "@sinclair/typebox";

/**
 * What becomes of a call that was started and has no recorded result:
 * `rerun` it has no effect; `reattach` its key finds the running or ended command; `unknown` an error result says so.
 * `reconcile` its note tells whether the write was done; `steps` its completed steps replay. `resume` is resolved as
 * `unknown` until delegation is there.
 */
export type ReplayPolicy = "rerun" | "reconcile" | "reattach" | "resume" | "steps" | "unknown";

/** A tool as the engine runs it. A tool without a policy is `unknown`. */
export interface DurableTool extends AgentTool<TObject, unknown> {
  replayPolicy?: ReplayPolicy;
  /** The same tool with a place to keep its steps; asked for by the engine when the policy is `steps`. */
  withSteps?(notes: StepNotes): DurableTool;
}

/** Where the steps of durable tools are kept: durable before `record` returns. */
export interface StepNotes {
  /** The output of a step that was completed before a crash. */
  find(toolCallId: string, name: string): { output: unknown } | undefined;
  record(toolCallId: string, name: string, output: unknown): void;
}

export interface ToolDefinition<S extends TObject> {
  name: string;
  label: string;
  description: string;
  parameters: S;
  replayPolicy: ReplayPolicy;
  /** Gives the text for the model, or throws: the message becomes an error result. */
  run(call: ToolRun<S>): Promise<ToolOutput>;
}

export interface ToolRun<S extends TObject> {
  id: string;
  args: Static<S>;
  signal: AbortSignal | undefined;
}

export interface ToolOutput {
  text: string;
  details: unknown;
}

/** Every tool begins with this, and again after it has waited for a lock. The reason is not looked at. */
export function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw new Error("Operation aborted");
}

export function defineTool<S extends TObject>(definition: ToolDefinition<S>): DurableTool {
  const { name, label, description, parameters, replayPolicy, run } = definition;
  return {
    name,
    label,
    description,
    parameters,
    replayPolicy,
    async execute(id, args, signal): Promise<AgentToolResult<unknown>> {
      throwIfAborted(signal);
      const output = await run({ id, args: args as Static<S>, signal }).catch(throwWellFormed);
      return { content: [{ type: "text", text: output.text.toWellFormed() }], details: output.details };
    },
  };
}

function throwWellFormed(error: unknown): never {
  if (!(error instanceof Error) || error.message.isWellFormed()) throw error;
  throw new Error(error.message.toWellFormed(), { cause: error });
}
