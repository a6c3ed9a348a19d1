/**
 * `useDataWriter`: a named piece of data for whoever reads the response, such as progress. The model never sees it.
 *
 * Its names are part of a response's shape for clients: they are the same in every render.
 *
 * Source: contract RUNTIME 1.7, 1.8, 4.
 */
import type { Static, TSchema } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { authoringError, currentFrame } from "./frame.ts";
import { toJsonValue } from "./json-value.ts";
import { isNonEmptyString, isRecord, unknownField } from "./options.ts";
import { requireWritable } from "./write-guard.ts";

export interface UseDataWriterOptions<S extends TSchema> {
  /** Every write must fit it. */
  schema?: S;
}

function optionsProblem(options: unknown): string | undefined {
  if (!isRecord(options)) return "options must be an object.";
  const unknown = unknownField(options, ["schema"]);
  if (unknown !== undefined) return `options received unknown field "${unknown}".`;
  return options.schema === undefined || isRecord(options.schema) ? undefined : "options.schema must be a schema.";
}

/**
 * Declares the part `data-<name>` of the response's message and gives the function that writes it: the first write places
 * it, later ones replace its data in place. Each is durable and on its way to readers when it returns.
 *
 * @example
 * ```ts
 * export const importer: Agent = () => {
 *   useModel(defaultModel());
 *   const report = useDataWriter("progress", { schema: Type.Object({ done: Type.Integer() }) });
 *   useTool({
 *     name: "import_rows",
 *     description: "Import all rows.",
 *     run: async () => {
 *       for (let done = 0; done <= 100; done += 10) report({ done: await importRows(done) });
 *     },
 *   });
 *   return "You import rows.";
 * };
 * ```
 */
export function useDataWriter<S extends TSchema>(name: string, options: { schema: S }): (data: Static<S>) => void;
export function useDataWriter(name: string): (data: unknown) => void;
export function useDataWriter(name: string, options: UseDataWriterOptions<TSchema> = {}): (data: unknown) => void {
  const frame = currentFrame("useDataWriter");
  const misuse = (what: string) => authoringError(frame.agent, `misused useDataWriter(): ${what}`);
  if (frame.subagent) throw misuse("it is not available in a subagent render. Only a whole response has data parts.");
  if (!isNonEmptyString(name)) throw misuse("the name must be a non-empty string.");
  const problem = optionsProblem(options);
  if (problem !== undefined) throw misuse(problem);
  const { schema } = options;
  if (frame.dataParts.includes(name)) throw misuse(`"${name}" was declared twice in one render.`);
  frame.dataParts.push(name);
  return (data) => {
    const runtime = requireWritable(frame, `the writer of useDataWriter("${name}")`);
    runtime.writeData(name, parse(data));
  };

  function parse(data: unknown): unknown {
    const refuse = (what: string) => misuse(`"${name}" cannot be written: ${what}`);
    let value: unknown;
    try {
      value = toJsonValue(data);
    } catch (error) {
      throw refuse(error instanceof Error ? error.message : String(error));
    }
    const fault = schema && Value.Errors(schema, value).First();
    if (fault) throw refuse(`${fault.path || "the data"}: ${fault.message}.`);
    return value;
  }
}
