/** A throw of an author's callback as the fault that fails the submission: it names agent and hook, the log says more. */
import { BerthError } from "../../protocol/errors.ts";

/** A fault of the framework passes as it is. */
export function callbackFault(agent: string, hook: string, error: unknown): BerthError {
  if (error instanceof BerthError) return error;
  return new BerthError("operation_failed", `Agent "${agent}": a callback of ${hook}() threw. The log says more.`, {
    cause: error,
  });
}
