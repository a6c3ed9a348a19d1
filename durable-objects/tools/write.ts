/** Writes a whole file as supplied: no size cap, no guard, no change of line ends. Source: contract TOOLS 4, D20. */
import { Type } from "@sinclair/typebox";
import type { Sandbox } from "../../containers/sandbox.ts";
import { type DurableTool, defineTool, throwIfAborted } from "./define-tool.ts";
import { parameter } from "./parameter.ts";
import { type PathLocks, sharedPathLocks } from "./path-lock.ts";
import { throwIfReadOnly } from "./read-only-paths.ts";

const parameters = Type.Object({
  path: parameter(Type.String(), "Path to the file to write"),
  content: parameter(Type.String(), "Content to write to the file"),
});

export function createWriteTool(env: Sandbox, locks: PathLocks = sharedPathLocks): DurableTool {
  return defineTool({
    name: "write",
    label: "Write File",
    description: "Write content to a file. Creates the file and parent directories if they do not exist.",
    parameters,
    replayPolicy: "reconcile",
    async run({ args: { path, content }, signal }) {
      throwIfReadOnly(env, path);
      await locks.hold(env, path, async () => {
        throwIfAborted(signal);
        await env.writeFile(path, content);
      });
      return {
        text: `Successfully wrote ${content.length} bytes to ${path}`,
        details: { path, size: content.length },
      };
    },
  });
}
