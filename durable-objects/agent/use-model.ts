/**
 * `useModel`: which model answers. Every agent calls it exactly once in a render; the argument may vary.
 *
 * Read when a submission starts, so that a response never changes its model half way.
 *
 * Source: contract RUNTIME 4, 6, 9.
 */
import type { CompactionChoice, ModelChoice } from "./agent.ts";
import { authoringError, currentFrame } from "./frame.ts";
import { isNonEmptyString, isRecord, unknownField } from "./options.ts";
import { isThinkingLevel, THINKING_LEVELS, type ThinkingLevel } from "./thinking-level.ts";

export interface UseModelOptions {
  /** Default `medium`. */
  thinkingLevel?: ThinkingLevel;
  compaction?: CompactionChoice;
}

const DEFAULT_THINKING_LEVEL: ThinkingLevel = "medium";

/** What is wrong with a compaction option, or nothing. */
function compactionProblem(value: unknown): string | undefined {
  if (value === false) return undefined;
  if (!isRecord(value)) return "options.compaction must be false or an object.";
  const unknown = unknownField(value, ["reserveTokens", "keepRecentTokens", "model"]);
  if (unknown !== undefined) return `options.compaction received unknown field "${unknown}".`;
  for (const name of ["reserveTokens", "keepRecentTokens"]) {
    const tokens = value[name];
    if (tokens !== undefined && !(Number.isInteger(tokens) && Number(tokens) > 0)) {
      return `options.compaction.${name} must be a positive whole number of tokens.`;
    }
  }
  if (value.model !== undefined && !isNonEmptyString(value.model)) {
    return "options.compaction.model must be a non-empty string.";
  }
  return undefined;
}

function optionsProblem(options: unknown): string | undefined {
  if (!isRecord(options)) return "options must be an object.";
  const unknown = unknownField(options, ["thinkingLevel", "compaction"]);
  if (unknown !== undefined) return `options received unknown field "${unknown}".`;
  if (options.thinkingLevel !== undefined && !isThinkingLevel(options.thinkingLevel)) {
    return `options.thinkingLevel must be one of ${THINKING_LEVELS.join(", ")}.`;
  }
  return options.compaction === undefined ? undefined : compactionProblem(options.compaction);
}

function createChoice(
  spec: string,
  thinkingLevel: ThinkingLevel,
  compaction: CompactionChoice | undefined,
): ModelChoice {
  return compaction === undefined ? { spec, thinkingLevel } : { spec, thinkingLevel, compaction };
}

/**
 * Names the model, as `provider/model`.
 *
 * @example
 * ```ts
 * export const reviewer: Agent = () => {
 *   useModel("anthropic/claude-sonnet-5-5", { thinkingLevel: "high" });
 *   return "You review code.";
 * };
 * ```
 */
export function useModel(spec: string, options: UseModelOptions = {}): void {
  const frame = currentFrame("useModel");
  const fail = (what: string) => authoringError(frame.agent, `misused useModel(): ${what}`);
  if (frame.subagent) throw fail("it is not available in a subagent render. A delegate inherits its parent's model.");
  if (!isNonEmptyString(spec)) throw fail("the model must be a non-empty string like `provider/model`.");
  const problem = optionsProblem(options);
  if (problem !== undefined) throw fail(problem);
  const thinkingLevel = options.thinkingLevel ?? DEFAULT_THINKING_LEVEL;
  if (frame.model !== undefined) throw fail("it was called twice in one render. Call it exactly once.");
  frame.model = createChoice(spec, thinkingLevel, options.compaction);
}
