/**
 * Replaces exact text in a file: one read, at most one write, the file unchanged on any error.
 *
 * Matching is by code unit, without any leniency; text that holds half a character matches nothing, since a file does not
 * (D1). A file that is not valid UTF-8 is refused, so that its other bytes survive (D2).
 *
 * Source: contract TOOLS 5, D1, D2, D20.
 */
import { Type } from "@sinclair/typebox";
import type { Sandbox } from "../../containers/sandbox.ts";
import { type DurableTool, defineTool, type ToolOutput, throwIfAborted } from "./define-tool.ts";
import { parameter } from "./parameter.ts";
import { type PathLocks, sharedPathLocks } from "./path-lock.ts";
import { throwIfReadOnly } from "./read-only-paths.ts";
import { findEarlierWrite, type IntentNotes, writeNoted } from "./reconciled-write.ts";

const parameters = Type.Object({
  path: parameter(Type.String(), "Path to the file to edit"),
  oldText: parameter(Type.String(), "Exact text to find (must be unique)"),
  newText: parameter(Type.String(), "Replacement text"),
  replaceAll: Type.Optional(parameter(Type.Boolean(), "Replace all occurrences")),
});

export function createEditTool(env: Sandbox, locks: PathLocks = sharedPathLocks, notes?: IntentNotes): DurableTool {
  return defineTool({
    name: "edit",
    label: "Edit File",
    description:
      "Edit a file using exact text replacement. The oldText must match a unique region of the file. Use replaceAll to replace all occurrences.",
    parameters,
    replayPolicy: "reconcile",
    async run({ id, args, signal }) {
      if (args.oldText === "") throw new Error("oldText must be a non-empty string.");
      throwIfReadOnly(env, args.path);
      return locks.hold(env, args.path, async () => {
        throwIfAborted(signal);
        const earlier = await findEarlierWrite(env, id, notes);
        if (earlier) return earlier;
        const content = await readText(env, args.path);
        throwIfAborted(signal);
        const { replaced, output } = args.replaceAll ? replaceEvery(args, content) : replaceOne(args, content);
        const write = { toolCallId: id, path: args.path, content: replaced, result: output };
        return writeNoted(env, write, notes);
      });
    },
  });
}

interface Edit {
  path: string;
  oldText: string;
  newText: string;
}

interface Replacement {
  replaced: string;
  output: ToolOutput;
}

async function readText(env: Sandbox, path: string): Promise<string> {
  if (typeof env.readFileBuffer !== "function") return env.readFile(path);
  const bytes = await env.readFileBuffer(path);
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new Error(`${path} is not valid UTF-8 text. No changes made.`);
  }
}

function countMatches(content: string, text: string): number {
  return text.isWellFormed() ? content.split(text).length - 1 : 0;
}

function replaceEvery({ path, oldText, newText }: Edit, content: string): Replacement {
  const count = countMatches(content, oldText);
  const replaced = count > 0 ? content.replaceAll(oldText, () => newText) : content;
  if (replaced === content) throw new Error(`Could not find the text in ${path}. No changes made.`);
  const text = `Replaced ${count} occurrences in ${path}`;
  return { replaced, output: { text, details: { path, replacements: count } } };
}

function replaceOne({ path, oldText, newText }: Edit, content: string): Replacement {
  const count = countMatches(content, oldText);
  if (count === 0) {
    throw new Error(
      `Could not find the exact text in ${path}. Make sure your oldText matches exactly, including whitespace and indentation.`,
    );
  }
  if (count > 1) {
    throw new Error(
      `Found ${count} occurrences of the text in ${path}. Provide more surrounding context to make the match unique, or use replaceAll.`,
    );
  }
  const replaced = content.replace(oldText, () => newText);
  return { replaced, output: { text: `Successfully edited ${path}`, details: { path } } };
}
