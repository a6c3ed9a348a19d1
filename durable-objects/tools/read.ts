/** Reads a text file in pages. Source: contract TOOLS 3. */
import type { Sandbox } from "../../containers/sandbox.ts";
import { type DurableTool, defineTool } from "./define-tool.ts";
import { formatReadContent, parseLineRange, readParameters } from "./read-format.ts";

export function createReadTool(env: Sandbox): DurableTool {
  return defineTool({
    name: "read",
    label: "Read File",
    description: "Read a file. Output is truncated to 2000 lines or 50KB — use offset/limit for large files.",
    parameters: readParameters,
    replayPolicy: "rerun",
    async run({ args }) {
      const range = parseLineRange(args.offset, args.limit);
      return formatReadContent(args.path, await env.readFile(args.path), range);
    },
  });
}
