/** `defineTool`: a tool outside a render, checked where it is written. Source: contract RUNTIME 4. */
import type { TObject } from "@sinclair/typebox";
import { type AuthorTool, parseAuthorTool } from "./author-tool.ts";

/** A checked definition. What a list expects of its tools must not widen what this one declares: hence `NoInfer`. */
type DefinedTool<Input extends TObject | undefined, WithHarness extends boolean, Durable extends boolean> = Readonly<
  AuthorTool<NoInfer<Input>, NoInfer<WithHarness>, NoInfer<Durable>>
>;

/**
 * Checks a definition at once, instead of at its first render, and types its `run`. For `useTool` and for the `tools` of
 * `harness.prompt`.
 *
 * @example
 * ```ts
 * const lookUp = defineTool({
 *   name: "look_up",
 *   description: "Find an order by its number.",
 *   input: Type.Object({ number: Type.String() }),
 *   run: async ({ data }) => ({ output: await orders.find(data.number) }),
 * });
 * ```
 */
export function defineTool<
  Input extends TObject | undefined = undefined,
  WithHarness extends boolean = false,
  Durable extends boolean = false,
>(definition: AuthorTool<Input, WithHarness, Durable>): DefinedTool<Input, WithHarness, Durable> {
  try {
    parseAuthorTool(definition);
  } catch (error) {
    if (!(error instanceof Error) || error.name === "BerthError") throw error;
    throw new Error(`defineTool() was misused: ${error.message}`);
  }
  return Object.freeze({ ...definition });
}
