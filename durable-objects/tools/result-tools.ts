/**
 * `finish` and `give_up`: how a model hands in the data a program asked it for, or says that it cannot. Both end the turn.
 *
 * Source: contract RUNTIME 4 (harness), TOOLS 1 (order of the list).
 */
import { type TObject, type TSchema, Type } from "@sinclair/typebox";
import { type DurableTool, throwIfAborted } from "./define-tool.ts";
import { parameter } from "./parameter.ts";

export type ResultOutcome = { kind: "data"; data: unknown } | { kind: "given up"; reason: string };

export interface ResultTools {
  tools: DurableTool[];
  /** What the model has called so far; a later call stands. */
  readOutcome(): ResultOutcome | undefined;
}

const giveUpParameters = Type.Object({
  reason: parameter(Type.String(), "Why the result cannot be produced"),
});

function isObjectSchema(schema: TSchema): schema is TObject {
  return schema.type === "object";
}

/** @param schema of the data; one that is no object is wrapped in the parameter `result`. */
export function createResultTools(schema: TSchema): ResultTools {
  let outcome: ResultOutcome | undefined;
  const isObject = isObjectSchema(schema);

  const createTool = (tool: {
    name: string;
    label: string;
    description: string;
    parameters: TObject;
    answer: string;
    read(args: Record<string, unknown>): ResultOutcome;
  }): DurableTool => ({
    name: tool.name,
    label: tool.label,
    description: tool.description,
    parameters: tool.parameters,
    replayPolicy: "rerun",
    async execute(_id, args, signal) {
      throwIfAborted(signal);
      // The loop has checked the arguments against the parameters; they are an object there.
      outcome = tool.read(args as Record<string, unknown>);
      return { content: [{ type: "text", text: tool.answer }], details: {}, terminate: true };
    },
  });

  const tools = [
    createTool({
      name: "finish",
      label: "Finish",
      description:
        "Hand in the requested result. Call it once, when the work is done; nothing else counts as an answer.",
      parameters: isObject ? schema : Type.Object({ result: schema }),
      answer: "The result was handed in.",
      read: (args) => ({ kind: "data", data: isObject ? args : args.result }),
    }),
    createTool({
      name: "give_up",
      label: "Give Up",
      description: "Say that the requested result cannot be produced, and why. Use it only when finish is impossible.",
      parameters: giveUpParameters,
      answer: "The request was given up.",
      read: (args) => ({ kind: "given up", reason: String(args.reason) }),
    }),
  ];
  return { tools, readOutcome: () => outcome };
}
