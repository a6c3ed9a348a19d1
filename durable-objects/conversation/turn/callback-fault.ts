/** A throw of an author's callback as the fault that fails the submission: it names agent and hook, the log says more. */
import { BerthError } from "../../protocol/errors.ts";

/** A fault of the framework passes as it is; one that cannot know whose code it met (a hook outside a render) is told. */
export function callbackFault(agent: string, hook: string, error: unknown): BerthError {
  if (error instanceof BerthError) {
    if (error.type !== "operation_failed" || error.message.includes(`"${agent}"`)) return error;
    return new BerthError(error.type, `Agent "${agent}", in a callback of ${hook}(): ${error.message}`, {
      cause: error,
    });
  }
  return new BerthError("operation_failed", `Agent "${agent}": a callback of ${hook}() threw. The log says more.`, {
    cause: error,
  });
}
