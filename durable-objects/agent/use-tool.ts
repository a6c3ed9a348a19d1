/**
 * `useTool`: a tool of the author's own, offered to the model after the tools of the sandbox and the framework.
 *
 * Source: contract RUNTIME 4, TOOLS 14.
 */
import type { TObject } from "@sinclair/typebox";
import { BerthError } from "../protocol/errors.ts";
import { type AuthorTool, createDurableTool, parseAuthorTool } from "./author-tool.ts";
import { authoringError, currentFrame } from "./frame.ts";
import type { ToolDefinition } from "./tool-definition.ts";

/**
 * Offers a tool for this render. May be called conditionally; a name may stand once.
 *
 * `run` returns a string (the text itself), nothing, or `{ output?, terminate? }`, where `output` reaches the model as
 * JSON. A throw becomes an error result that the model sees. `run` is given `data` where the tool declares `input`,
 * `harness` with `harness: true`, `step` with `durable: true`.
 *
 * @example
 * ```ts
 * export const forecaster: Agent = () => {
 *   useModel(defaultModel());
 *   useTool({
 *     name: "weather",
 *     description: "Tell today's weather of a city.",
 *     input: Type.Object({ city: Type.String() }),
 *     run: ({ data }) => ({ output: { city: data.city, sky: "clear" } }),
 *   });
 *   return "You tell the weather.";
 * };
 * ```
 */
export function useTool<
  Input extends TObject | undefined = undefined,
  WithHarness extends boolean = false,
  Durable extends boolean = false,
>(definition: AuthorTool<Input, WithHarness, Durable>): void {
  const frame = currentFrame("useTool");
  const tool = parse(frame.agent, definition);
  if (frame.tools.some((other) => other.name === tool.name)) {
    throw new BerthError("tool_name_conflict", `Duplicate tool name "${tool.name}".`);
  }
  frame.tools.push(createDurableTool(tool));
}

function parse(agent: string, definition: unknown): ToolDefinition {
  try {
    return parseAuthorTool(definition);
  } catch (error) {
    if (error instanceof BerthError) throw error;
    throw authoringError(agent, `misused useTool(): ${error instanceof Error ? error.message : String(error)}`);
  }
}
