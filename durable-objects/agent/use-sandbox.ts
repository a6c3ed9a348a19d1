/**
 * `useSandbox`: the place an agent works in. Without it there are no file or shell tools.
 *
 * Presence may change from render to render and is read at every turn boundary; the factory is read when a submission
 * starts. The error texts and the order of the checks are the contract's.
 *
 * Source: contract TOOLS 12, RUNTIME 4.
 */
import type { SandboxFactory } from "../../containers/sandbox.ts";
import { BerthError } from "../protocol/errors.ts";
import type { SandboxChoice } from "./agent.ts";
import { authoringError, currentFrame } from "./frame.ts";
import { isNonEmptyString, isRecord, unknownField } from "./options.ts";

export interface UseSandboxOptions {
  /** Working directory of the agent in its sandbox; the factory's own when absent. */
  cwd?: string;
  /** Tool name to `"always"` or a predicate. Refused until approvals are there: a gate that is ignored is worse than none. */
  approval?: Record<string, "always" | ((input: unknown) => boolean)>;
}

function refusal(text: string): BerthError {
  return new BerthError("operation_failed", `[flue] useSandbox() ${text}`);
}

/**
 * Attaches the sandbox, at most once a render.
 *
 * @example
 * ```ts
 * export const coder: Agent = () => {
 *   useModel(defaultModel());
 *   useSandbox(sandbox(), { cwd: "/workspace/app" });
 *   return "You write code.";
 * };
 * ```
 */
export function useSandbox(factory: SandboxFactory, options?: UseSandboxOptions): void {
  const frame = currentFrame("useSandbox");
  if (frame.subagent) {
    throw refusal(
      "is not available in a subagent render. Delegates share the parent agent's environment (scope work with the task call's cwd instead).",
    );
  }
  if (!isRecord(factory) || typeof factory.createSandbox !== "function") {
    throw refusal("requires a sandbox factory (an object with createSandbox()), like the value local() returns.");
  }
  if (factory.tools !== undefined && typeof factory.tools !== "function") {
    throw refusal("sandbox `tools` must be a function when present.");
  }
  if (frame.sandbox !== undefined) {
    throw refusal(
      "was called twice in one render. An agent has one environment — attach it once, in the agent body or a single custom hook.",
    );
  }
  const choice: SandboxChoice = { factory };
  if (options !== undefined) {
    if (!isRecord(options)) throw refusal("options must be an object.");
    const unknown = unknownField(options, ["cwd", "approval"]);
    if (unknown !== undefined) throw refusal(`options received unknown field "${unknown}".`);
    if (options.cwd !== undefined) {
      if (!isNonEmptyString(options.cwd)) throw refusal("options.cwd must be a non-empty string.");
      choice.cwd = options.cwd;
    }
    if (options.approval !== undefined) {
      throw authoringError(frame.agent, "misused useSandbox(): options.approval is not supported yet.");
    }
  }
  frame.sandbox = choice;
}
