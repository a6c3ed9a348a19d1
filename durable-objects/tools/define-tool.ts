/**
 * How a tool is declared: pi's tool value, its schema in TypeBox, and beside it the policy by which a call that a crash
 * interrupted is resolved.
 *
 * Source: contract TOOLS 1, 2, D11; RUNTIME 2.6.
 */
import type { AgentTool, AgentToolResult } from "@earendil-works/pi-agent-core";
import type { Static, TObject } from "@sinclair/typebox";

/**
 * What becomes of a call that was started and has no recorded result:
 * `rerun` it has no effect; `reattach` its key finds the running or ended command; `unknown` an error result says so.
 * `reconcile`, `resume` and `steps` are resolved as `unknown` until their machinery is there.
 */
export type ReplayPolicy = "rerun" | "reconcile" | "reattach" | "resume" | "steps" | "unknown";

/** A tool as the engine runs it. A tool without a policy is `unknown`. */
export interface DurableTool extends AgentTool<TObject, unknown> {
  replayPolicy?: ReplayPolicy;
}

export interface ToolDefinition<S extends TObject> {
  name: string;
  label: string;
  description: string;
  parameters: S;
  replayPolicy: ReplayPolicy;
  /** Gives the text for the model, or throws: the message becomes an error result. */
  run(call: { id: string; args: Static<S>; signal: AbortSignal | undefined }): Promise<ToolOutput>;
}

export interface ToolOutput {
  text: string;
  details: unknown;
}

/** `null` for an optional parameter means absent (D11). */
function dropNulls(parameters: TObject, args: unknown): unknown {
  if (typeof args !== "object" || args === null || Array.isArray(args)) return args;
  const required = new Set(parameters.required ?? []);
  const kept = Object.entries(args).filter(([name, value]) => value !== null || required.has(name));
  return Object.fromEntries(kept);
}

export function defineTool<S extends TObject>(definition: ToolDefinition<S>): DurableTool {
  const { name, label, description, parameters, replayPolicy, run } = definition;
  return {
    name,
    label,
    description,
    parameters,
    replayPolicy,
    prepareArguments: (args) => dropNulls(parameters, args) as Static<TObject>,
    async execute(id, args, signal): Promise<AgentToolResult<unknown>> {
      if (signal?.aborted) throw new Error("Operation aborted");
      const output = await run({ id, args: args as Static<S>, signal });
      return { content: [{ type: "text", text: output.text }], details: output.details };
    },
  };
}
