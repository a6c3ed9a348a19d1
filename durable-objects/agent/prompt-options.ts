/**
 * Reads what `harness.prompt` is called with: an option nobody knows is a typing error and must not pass in silence.
 *
 * Source: contract RUNTIME 4.
 */
import type { TSchema } from "@sinclair/typebox";
import { BerthError } from "../protocol/errors.ts";
import { type AuthoredTool, createDurableTool, parseAuthorTool } from "./author-tool.ts";
import type { PromptImage } from "./harness.ts";
import { isNonEmptyString, isRecord, unknownField } from "./options.ts";
import { isThinkingLevel, THINKING_LEVELS, type ThinkingLevel } from "./thinking-level.ts";

export interface ParsedPrompt {
  text: string;
  result?: TSchema;
  tools: AuthoredTool[];
  model?: string;
  thinkingLevel?: ThinkingLevel;
  signal?: AbortSignal;
  images: PromptImage[];
}

const FIELDS = ["result", "tools", "model", "thinkingLevel", "signal", "images"];

function isImage(value: unknown): value is PromptImage {
  return isRecord(value) && value.type === "image" && isNonEmptyString(value.data) && isNonEmptyString(value.mimeType);
}

function parseTools(value: unknown): AuthoredTool[] {
  if (!Array.isArray(value)) throw new Error("options.tools must be a list of tools.");
  return value.map((tool) => createDurableTool(parseAuthorTool(tool)));
}

function parseOptions(options: unknown): Omit<ParsedPrompt, "text"> {
  if (!isRecord(options)) throw new Error("options must be an object.");
  const unknown = unknownField(options, FIELDS);
  if (unknown !== undefined) throw new Error(`options received unknown field "${unknown}".`);
  const { result, tools = [], model, thinkingLevel, signal, images = [] } = options;
  const parsed: Omit<ParsedPrompt, "text"> = { tools: parseTools(tools), images: [] };
  if (result !== undefined) {
    if (!isRecord(result)) throw new Error("options.result must be a schema.");
    parsed.result = result as unknown as TSchema;
  }
  if (model !== undefined) {
    if (!isNonEmptyString(model)) throw new Error("options.model must be a non-empty string like `provider/model`.");
    parsed.model = model;
  }
  if (thinkingLevel !== undefined) {
    if (!isThinkingLevel(thinkingLevel)) {
      throw new Error(`options.thinkingLevel must be one of ${THINKING_LEVELS.join(", ")}.`);
    }
    parsed.thinkingLevel = thinkingLevel;
  }
  if (signal !== undefined) {
    if (!(signal instanceof AbortSignal)) throw new Error("options.signal must be an AbortSignal.");
    parsed.signal = signal;
  }
  if (!Array.isArray(images) || !images.every(isImage)) {
    throw new Error('options.images must be a list of { type: "image", data, mimeType }.');
  }
  parsed.images = images;
  return parsed;
}

/** Throws and names `owner`, which stands for the tool or hook that called; a conflict of names keeps its code. */
export function parsePromptOptions(owner: string, text: unknown, options: unknown = {}): ParsedPrompt {
  try {
    if (!isNonEmptyString(text)) throw new Error("the text must be a non-empty string.");
    return { text, ...parseOptions(options) };
  } catch (error) {
    if (error instanceof BerthError) throw error;
    throw new Error(`${owner} misused harness.prompt(): ${error instanceof Error ? error.message : String(error)}`);
  }
}
