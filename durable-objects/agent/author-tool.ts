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
import type { Harness } from "./harness.ts";
import type { HarnessInvocation, HarnessSource, OpenHarness } from "./harness-source.ts";
import { isNonEmptyString, isRecord, unknownField } from "./options.ts";
import type { ToolDefinition } from "./tool-definition.ts";

export interface ToolLog {
  info(message: string, attributes?: Record<string, unknown>): void;
  warn(message: string, attributes?: Record<string, unknown>): void;
  error(message: string, attributes?: Record<string, unknown>): void;
}

/** What every call is given. */
export interface ToolCallContext {
  toolCallId: string;
  signal?: AbortSignal;
  log: ToolLog;
}

/** What a call is given, by what its tool declares. */
export type AuthorToolContext<
  Input extends TObject | undefined = undefined,
  WithHarness extends boolean = false,
  Durable extends boolean = false,
> = ToolCallContext &
  // The arguments, checked against `input`.
  (Input extends TObject ? { data: Static<Input> } : unknown) &
  (WithHarness extends true ? { harness: Harness } : unknown) &
  (Durable extends true ? { step: ToolSteps } : unknown);

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

/** A tool as its author writes it; `input`, `harness` and `durable` decide what `run` is given. */
export interface AuthorTool<
  Input extends TObject | undefined = undefined,
  WithHarness extends boolean = false,
  Durable extends boolean = false,
> extends ToolDefinition {
  input?: Input;
  harness?: WithHarness;
  durable?: Durable;
  run(
    context: AuthorToolContext<Input, WithHarness, Durable>,
    // biome-ignore lint/suspicious/noConfusingVoidType: an author's function may simply not return.
  ): AuthorToolReturn | void | Promise<AuthorToolReturn | void>;
}

/** An author's tool as the engine runs it. */
export interface AuthoredTool extends DurableTool {
  withSteps?(notes: StepNotes): AuthoredTool;
  /** The same tool with a place to get its harness from; asked for by the engine when the tool wants one. */
  withHarness?(source: HarnessSource): AuthoredTool;
}

const CAPABILITIES = ["harness", "durable"] as const;
const FIELDS = ["name", "description", "input", "output", "harness", "durable", "approval", "run"];

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
  const flag = CAPABILITIES.find((field) => !["boolean", "undefined"].includes(typeof definition[field]));
  if (flag !== undefined) return `${flag} must be true or false.`;
  return definition.approval === undefined ? undefined : "approval is not supported yet.";
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

function renderReturn(tool: ToolDefinition, returned: unknown): AgentToolResult<unknown> {
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
export function parseAuthorTool(definition: unknown): ToolDefinition {
  const problem = definitionProblem(definition);
  if (problem !== undefined) throw new Error(problem);
  const tool = definition as ToolDefinition;
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

/** What the engine has given a tool so far. */
interface Given {
  steps?: StepNotes;
  harnesses?: HarnessSource;
}

export function createDurableTool(tool: ToolDefinition, given: Given = {}): AuthoredTool {
  const parameters = tool.input ?? Type.Object({});
  const isDurable = tool.durable === true;
  return {
    name: tool.name,
    label: tool.name,
    description: tool.description,
    parameters,
    replayPolicy: isDurable ? "steps" : "unknown",
    ...(isDurable && { withSteps: (steps: StepNotes) => createDurableTool(tool, { ...given, steps }) }),
    ...(tool.harness === true && {
      withHarness: (harnesses: HarnessSource) => createDurableTool(tool, { ...given, harnesses }),
    }),
    async execute(toolCallId, args, signal) {
      if (signal?.aborted) throw new Error("Operation aborted");
      const context: ToolCallContext & { data?: unknown; step?: ToolSteps } = {
        toolCallId,
        log: createToolLog(tool.name, toolCallId),
      };
      if (signal !== undefined) context.signal = signal;
      // The loop has checked the arguments against `parameters` before it comes here.
      if (tool.input !== undefined) context.data = args;
      if (isDurable && given.steps) context.step = createSteps(tool.name, toolCallId, given.steps);
      const lease =
        tool.harness === true && given.harnesses
          ? lendHarness(context, given.harnesses, {
              name: tool.name,
              owner: `Tool "${tool.name}"`,
              id: toolCallId,
              signal,
            })
          : undefined;
      try {
        // `run` takes what its own flags declare, which is what was put together here.
        return renderReturn(tool, await tool.run(context as never));
      } finally {
        lease?.end();
      }
    },
  };
}

/** Puts `harness` into the context, opened when it is first looked at. */
function lendHarness(context: object, source: HarnessSource, invocation: HarnessInvocation): { end(): void } {
  let opened: OpenHarness | undefined;
  Object.defineProperty(context, "harness", {
    enumerable: true,
    get() {
      opened ??= source.open(invocation);
      return opened.harness;
    },
  });
  return { end: () => opened?.close() };
}
