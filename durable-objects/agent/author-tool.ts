/**
 * Makes a tool of the engine from a tool as an author writes it: checks the definition, validates the arguments and the
 * result, and turns the result into the text a model reads.
 *
 * A call that a crash cut has an unknown outcome: authors' tools may do anything, so they are never run again silently.
 * A durable tool is run again, with the outputs of the steps it had completed.
 *
 * Source: contract RUNTIME 2.6, 4.
 */
import type { AgentToolResult } from "@earendil-works/pi-agent-core";
import { type Static, type TObject, type TSchema, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import type { DurableTool, StepNotes } from "../tools/define-tool.ts";
import { throwIfReserved } from "../tools/reserved-names.ts";
import { isNonEmptyString, isRecord, unknownField } from "./options.ts";

export interface ToolLog {
  info(message: string, attributes?: Record<string, unknown>): void;
  warn(message: string, attributes?: Record<string, unknown>): void;
  error(message: string, attributes?: Record<string, unknown>): void;
}

export interface AuthorToolContext<Input extends TObject> {
  toolCallId: string;
  signal?: AbortSignal;
  log: ToolLog;
  /** The arguments, checked against `input`; empty when the tool declares none. */
  data: Static<Input>;
  /** Only with `durable: true`. */
  step?: ToolSteps;
}

/** Work that is done once, whatever crashes between: a completed step gives its recorded output again. */
export interface ToolSteps {
  /**
   * Runs `work` and records what it gives, which must survive a JSON round trip. The name is the step's identity within
   * the call; naming two steps alike throws.
   *
   * @example `const order = await step.do("create order", () => api.createOrder(data));`
   */
  do<T>(name: string, work: () => T | Promise<T>): Promise<T>;
}

/** `output` is sent to the model as JSON. `terminate` ends the turn when every result of its batch does. */
export interface AuthorToolResult {
  output?: unknown;
  terminate?: boolean;
}

/** A plain string is the text itself; nothing is `null`. */
export type AuthorToolReturn = string | AuthorToolResult | undefined;

export interface AuthorTool<Input extends TObject = TObject> {
  name: string;
  description: string;
  /** Schema of the arguments: an object at the top. */
  input?: Input;
  /** Schema of `output`; a result that does not fit is an error. */
  output?: TSchema;
  /** Not supported yet. */
  harness?: boolean;
  /** After a crash the tool runs again and its completed `step.do` results replay, instead of an unknown outcome. */
  durable?: boolean;
  /** Not supported yet. */
  approval?: unknown;
  // biome-ignore lint/suspicious/noConfusingVoidType: an author's function may simply not return.
  run(context: AuthorToolContext<Input>): AuthorToolReturn | void | Promise<AuthorToolReturn | void>;
}

const FIELDS = ["name", "description", "input", "output", "harness", "durable", "approval", "run"];
const UNSUPPORTED = ["harness", "approval"] as const;

function definitionProblem(definition: unknown): string | undefined {
  if (!isRecord(definition)) return "the definition must be an object.";
  const unknown = unknownField(definition, FIELDS);
  if (unknown !== undefined) return `the definition received unknown field "${unknown}".`;
  if (!isNonEmptyString(definition.name)) return "name must be a non-empty string.";
  if (!isNonEmptyString(definition.description)) return "description must be a non-empty string.";
  if (typeof definition.run !== "function") return "run must be a function.";
  if (definition.input !== undefined && !(isRecord(definition.input) && definition.input.type === "object")) {
    return "input must be a schema of an object at the top level.";
  }
  if (definition.output !== undefined && !isRecord(definition.output)) return "output must be a schema.";
  const wanted = UNSUPPORTED.find((field) => definition[field] !== undefined && definition[field] !== false);
  return wanted === undefined ? undefined : `${wanted} is not supported yet.`;
}

function createToolLog(tool: string, toolCallId: string): ToolLog {
  const write = (level: "info" | "warn" | "error") => (message: string, attributes?: Record<string, unknown>) =>
    console[level](JSON.stringify({ event: "tool_log", level, tool, toolCallId, message, ...attributes }));
  return { info: write("info"), warn: write("warn"), error: write("error") };
}

function renderOutput(tool: string, output: unknown, schema: TSchema | undefined): string {
  if (schema !== undefined) {
    const error = Value.Errors(schema, output).First();
    if (error)
      throw new Error(
        `Tool "${tool}" gave an output that does not fit its schema: ${error.path || "root"}: ${error.message}`,
      );
  }
  if (output === undefined) return "null";
  const text = JSON.stringify(output);
  if (text === undefined) throw new Error(`Tool "${tool}" gave an output that is not JSON.`);
  return text;
}

function renderReturn(tool: AuthorTool, returned: unknown): AgentToolResult<unknown> {
  const result = (text: string): AgentToolResult<unknown> => ({ content: [{ type: "text", text }], details: {} });
  if (typeof returned === "string") {
    if (tool.output !== undefined) renderOutput(tool.name, returned, tool.output);
    return result(returned);
  }
  if (returned === undefined) return result(renderOutput(tool.name, undefined, tool.output));
  const known = isRecord(returned) && unknownField(returned, ["output", "terminate"]) === undefined;
  if (!known || (returned.terminate !== undefined && typeof returned.terminate !== "boolean")) {
    throw new Error(
      `Tool "${tool.name}" must return a string, nothing, or { output?, terminate? }. Wrap a value as { output: value }.`,
    );
  }
  const rendered = result(renderOutput(tool.name, returned.output, tool.output));
  if (returned.terminate === true) rendered.terminate = true;
  return rendered;
}

/** Throws a plain error with what is wrong, or `tool_name_conflict` for a name of the framework's. */
export function parseAuthorTool(definition: unknown): AuthorTool {
  const problem = definitionProblem(definition);
  if (problem !== undefined) throw new Error(problem);
  const tool = definition as AuthorTool;
  throwIfReserved(tool.name);
  return tool;
}

/** Steps of one call, over where they are kept. */
function createSteps(tool: string, toolCallId: string, notes: StepNotes): ToolSteps {
  const used = new Set<string>();
  return {
    async do<T>(name: string, work: () => T | Promise<T>): Promise<T> {
      if (!isNonEmptyString(name)) throw new Error(`Tool "${tool}": a step needs a non-empty name.`);
      if (used.has(name)) throw new Error(`Tool "${tool}" has two steps named "${name}" in one call.`);
      used.add(name);
      const known = notes.find(toolCallId, name);
      // What was recorded under this name came from this very step.
      if (known) return known.output as T;
      const output = await work();
      const text = JSON.stringify(output);
      if (text === undefined && output !== undefined) {
        throw new Error(`Tool "${tool}", step "${name}": the output is not JSON.`);
      }
      notes.record(toolCallId, name, output);
      // The same value now as after a crash.
      return (text === undefined ? undefined : JSON.parse(text)) as T;
    },
  };
}

export function createDurableTool(tool: AuthorTool, notes?: StepNotes): DurableTool {
  const parameters = tool.input ?? Type.Object({});
  const isDurable = tool.durable === true;
  return {
    name: tool.name,
    label: tool.name,
    description: tool.description,
    parameters,
    replayPolicy: isDurable ? "steps" : "unknown",
    ...(isDurable && { withSteps: (given: StepNotes) => createDurableTool(tool, given) }),
    async execute(toolCallId, args, signal) {
      if (signal?.aborted) throw new Error("Operation aborted");
      const context: AuthorToolContext<TObject> = {
        toolCallId,
        log: createToolLog(tool.name, toolCallId),
        // The loop has checked the arguments against `parameters` before it comes here.
        data: (tool.input === undefined ? {} : args) as Static<TObject>,
      };
      if (signal !== undefined) context.signal = signal;
      if (isDurable && notes) context.step = createSteps(tool.name, toolCallId, notes);
      return renderReturn(tool, await tool.run(context));
    },
  };
}
