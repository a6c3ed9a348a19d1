/** Writes a whole file as supplied: no size cap, no guard, no change of line ends. Source: contract TOOLS 4, D20. */
import { Type } from "@sinclair/typebox";
import type { Sandbox } from "../../containers/sandbox.ts";
import { type DurableTool, defineTool, throwIfAborted } from "./define-tool.ts";
import { parameter } from "./parameter.ts";
import { type PathLocks, sharedPathLocks } from "./path-lock.ts";
import { throwIfReadOnly } from "./read-only-paths.ts";
import { findEarlierWrite, type IntentNotes, writeNoted } from "./reconciled-write.ts";

const parameters = Type.Object({
  path: parameter(Type.String(), "Path to the file to write"),
  content: parameter(Type.String(), "Content to write to the file"),
});

export function createWriteTool(env: Sandbox, locks: PathLocks = sharedPathLocks, notes?: IntentNotes): DurableTool {
  return defineTool({
    name: "write",
    label: "Write File",
    description: "Write content to a file. Creates the file and parent directories if they do not exist.",
    parameters,
    replayPolicy: "reconcile",
    async run({ id, args: { path, content }, signal }) {
      throwIfReadOnly(env, path);
      const text = `Successfully wrote ${content.length} bytes to ${path}`;
      const result = { text, details: { path, size: content.length } };
      return locks.hold(env, path, async () => {
        throwIfAborted(signal);
        const earlier = await findEarlierWrite(env, id, notes);
        return earlier ?? writeNoted(env, { toolCallId: id, path, content, result }, notes);
      });
    },
  });
}
