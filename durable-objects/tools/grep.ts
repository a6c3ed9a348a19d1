/**
 * Searches file contents with ripgrep, else with grep, else with the sandbox's own search verb where it has one.
 *
 * Source: contract TOOLS 8, D3, D4, D5, D6, D15, D16, D18.
 */
import { type Static, Type } from "@sinclair/typebox";
import type { ExecResult, Sandbox } from "../../containers/sandbox.ts";
import { systemTimers } from "../protocol/clock.ts";
import { HIDDEN_SEARCH_TIMEOUT_MS, MAX_GREP_MATCHES } from "../protocol/limits.ts";
import { type DurableTool, defineTool } from "./define-tool.ts";
import { type GrepRequest, grepCommand, hiddenSearchCommand, ripgrepCommand } from "./grep-command.ts";
import { parseHits, renderHits } from "./grep-hits.ts";
import { parameter } from "./parameter.ts";
import { hasRipgrep } from "./ripgrep-probe.ts";
import { refusedOptions, runSearch } from "./search-pipeline.ts";

const NO_MATCHES = "No matches found.";
const HIDDEN_NOTE = "\n\n[Hidden or git-ignored files match; name their path to search them.]";

const parameters = Type.Object({
  pattern: parameter(Type.String(), "Search pattern (regex)"),
  path: Type.Optional(parameter(Type.String(), "Directory or file to search (default: .)")),
  include: Type.Optional(parameter(Type.String(), 'Glob filter, e.g. "*.ts"')),
  literal: Type.Optional(parameter(Type.Boolean(), "Match the pattern as literal text")),
});

interface Answer extends ExecResult {
  /** Asks whether files that the search left out would match. */
  hasHiddenMatch?(): Promise<boolean>;
}

export function createGrepTool(env: Sandbox): DurableTool {
  return defineTool({
    name: "grep",
    label: "Search Files",
    description: "Search file contents for a regex pattern. Returns matching lines with file paths and line numbers.",
    parameters,
    replayPolicy: "rerun",
    async run({ args, signal }) {
      const request = requestOf(args);
      const answer = await search(env, request, signal);
      const { stdout, stderr, exitCode } = answer;
      const hasHits = stdout.trim() !== "";
      if (refusedOptions(answer)) throw new Error(`grep failed: ${stderr}`);
      if (exitCode === 1 && !hasHits) {
        const note = (await answer.hasHiddenMatch?.()) ? HIDDEN_NOTE : "";
        return { text: NO_MATCHES + note, details: { matchCount: 0 } };
      }
      const hits = parseHits(stdout, request.path);
      if (exitCode > 1) {
        const found = hasHits ? `\n\nMatches found before the failure:\n${renderHits(hits)}` : "";
        throw new Error(`grep failed: ${stderr}${found}`);
      }
      return { text: renderHits(hits), details: { matchCount: Math.min(hits.hits.length, MAX_GREP_MATCHES) } };
    },
  });
}

function requestOf(args: Static<typeof parameters>): GrepRequest {
  return {
    pattern: args.pattern,
    path: args.path || ".",
    include: args.include || undefined,
    literal: args.literal === true,
  };
}

async function search(env: Sandbox, request: GrepRequest, signal: AbortSignal | undefined): Promise<Answer> {
  if (env.search) return env.search.grep({ ...request, cwd: env.cwd, signal });
  if (!(await hasRipgrep(env))) return runSearch(env, grepCommand(request), signal);
  const result = await runSearch(env, ripgrepCommand(request), signal);
  return { ...result, hasHiddenMatch: () => hasHiddenMatch(env, request, signal) };
}

/** No answer within the time is no (D5); an abort of the caller is not hidden by that. */
async function hasHiddenMatch(env: Sandbox, request: GrepRequest, signal: AbortSignal | undefined): Promise<boolean> {
  const late = new AbortController();
  const cancel = systemTimers.after(HIDDEN_SEARCH_TIMEOUT_MS, () => late.abort());
  try {
    const result = await env.exec(hiddenSearchCommand(request), {
      timeoutMs: HIDDEN_SEARCH_TIMEOUT_MS,
      signal: signal ? AbortSignal.any([signal, late.signal]) : late.signal,
    });
    return result.exitCode === 0 && result.stdout.trim() !== "";
  } catch (error) {
    if (signal?.aborted) throw error;
    return false;
  } finally {
    cancel();
  }
}
