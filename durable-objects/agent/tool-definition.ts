/**
 * A tool of an author's, whatever its arguments and capabilities: what `defineTool` gives and what a list of tools takes.
 *
 * Source: contract RUNTIME 4.
 */
import type { TObject, TSchema } from "@sinclair/typebox";

export interface ToolDefinition {
  name: string;
  /** What the model is told of it. */
  description: string;
  /** Schema of the arguments: an object at the top. */
  input?: TObject | undefined;
  /** Schema of `output`; a result that does not fit is an error. */
  output?: TSchema;
  /** `run` is given the agent's harness. */
  harness?: boolean;
  /** After a crash the tool runs again and its completed `step.do` results replay, instead of an unknown outcome. */
  durable?: boolean;
  /** Not supported yet. */
  approval?: unknown;
  run(context: never): unknown;
}
