/**
 * Finds files by name with `find -name`, or with the sandbox's own search verb.
 *
 * Source: contract TOOLS 9, D3, D7, D15, D16, D18, D23, D26.
 */
import { Type } from "@sinclair/typebox";
import type { ExecResult, Sandbox } from "../../containers/sandbox.ts";
import { shellQuote } from "../../containers/shell-quote.ts";
import { MAX_GLOB_RESULTS } from "../protocol/limits.ts";
import { type DurableTool, defineTool } from "./define-tool.ts";
import { parameter } from "./parameter.ts";
import {
  compareBytes,
  firstLinesAndTotal,
  parseCountedLines,
  pipeKeepingStatus,
  plainPath,
  readShownPath,
  refusedOptions,
  runSearch,
  type SearchCommand,
  showPath,
} from "./search-pipeline.ts";

const NO_FILES = "No files found matching pattern.";
/** What a shell answers for a program it cannot run or cannot find. */
const PROGRAM_MISSING = new Set([126, 127]);

const parameters = Type.Object({
  pattern: parameter(Type.String(), 'Filename pattern, e.g. "*.ts"'),
  path: Type.Optional(parameter(Type.String(), "Directory to search in (default: .)")),
});

export function createGlobTool(env: Sandbox): DurableTool {
  return defineTool({
    name: "glob",
    label: "Find Files",
    description: "Find files by filename pattern using shell find -name semantics. Returns matching file paths.",
    parameters,
    replayPolicy: "rerun",
    async run({ args, signal }) {
      const path = args.path || ".";
      const { pattern } = args;
      const result = env.search
        ? await env.search.glob({ pattern, path: plainPath(path), cwd: env.cwd, signal })
        : await runSearch(env, findCommand(pattern, plainPath(path)), signal);
      const { paths, total } = result.stdout.trim() === "" ? NONE : parsePaths(result.stdout);
      if (paths.length === 0) {
        const missing = await isMissing(env, path);
        if (!missing) throwIfNotSearched(result, env.search !== undefined);
        const note = missing ? `\n\n[${path} does not exist.]` : "";
        return { text: NO_FILES + note, details: { matchCount: 0 } };
      }
      const shown = paths.slice(0, MAX_GLOB_RESULTS);
      const list = shown.map(showPath).join("\n");
      const notice =
        total > shown.length ? `\n\n[Showing ${MAX_GLOB_RESULTS} of ${total} paths. Narrow your search.]` : "";
      return { text: list + notice, details: { matchCount: shown.length } };
    },
  });
}

/** Links to files are listed as files (D26). A newline in a name travels as a NUL, since one path is one line. */
function findCommand(pattern: string, path: string): SearchCommand {
  const named = `-name ${shellQuote(pattern)}`;
  const files = `\\( -type f -o -type l -exec test -f {} \\; \\)`;
  const sorted = `tr '\\000\\n' '\\n\\000' | LC_ALL=C sort`;
  return {
    sorted: pipeKeepingStatus(
      `find ${shellQuote(path)} ${named} ${files} -print0 2>/dev/null`,
      `${sorted} | ${firstLinesAndTotal(MAX_GLOB_RESULTS)}`,
    ),
    plain: `find ${shellQuote(path)} -type f ${named} 2>/dev/null`,
  };
}

/** An empty answer that is a verb's fault, or due to a missing `find`, is an error and not "no files" (D23). */
function throwIfNotSearched(result: ExecResult, byVerb: boolean): void {
  const { stderr, exitCode } = result;
  if (refusedOptions(result) || (byVerb ? exitCode > 1 : PROGRAM_MISSING.has(exitCode))) {
    throw new Error(`glob failed: ${stderr || "the sandbox has no find program."}`);
  }
}

interface Found {
  paths: string[];
  total: number;
}

const NONE: Found = { paths: [], total: 0 };

function parsePaths(stdout: string): Found {
  const { lines, total } = parseCountedLines(stdout);
  if (total !== undefined) {
    const paths = lines.map((line) => line.replaceAll("\0", "\n")).sort(compareBytes);
    return { paths, total };
  }
  const answered = stdout.includes("\0") ? stdout.split("\0") : stdout.trim().split("\n");
  const paths = answered
    .filter((path) => path !== "")
    .map(readShownPath)
    .sort(compareBytes);
  return { paths, total: paths.length };
}

async function isMissing(env: Sandbox, path: string): Promise<boolean> {
  try {
    return !(await env.exists(path));
  } catch {
    return false;
  }
}
