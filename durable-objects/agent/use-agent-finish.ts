/**
 * `useAgentFinish`: a last look before a response ends, which may send the model back to work.
 *
 * Source: contract RUNTIME 2.7, 4.
 */
import { declareCallback } from "./declare-callback.ts";
import type { AgentFinishCallback } from "./event-hooks.ts";

/**
 * Runs a callback each time the response would stop: the model has no more calls and no message waits. The callbacks run
 * one after the other; when one of them appended a signal, the model reads it and goes on. A response may be sent on 32
 * times, then the submission fails. A throw fails it too.
 *
 * A crash may run a callback again; its state writes and signals become durable once, together.
 *
 * @example
 * ```ts
 * export const fixer: Agent = () => {
 *   useModel(defaultModel());
 *   useSandbox(sandbox());
 *   useAgentFinish(({ response, append }) => {
 *     const hasTested = response.toolCalls.some(({ tool, isError }) => tool === "run_tests" && !isError);
 *     if (!hasTested) append({ kind: "signal", type: "tests.missing", body: "Run the tests before you end." });
 *   });
 *   return "You fix bugs.";
 * };
 * ```
 */
export function useAgentFinish(run: AgentFinishCallback): void {
  declareCallback("useAgentFinish", "agentFinish", run);
}
