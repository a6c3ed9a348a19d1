/**
 * `useAgentStart`: work before the model reads a message.
 *
 * Source: contract RUNTIME 4.
 */
import { declareCallback } from "./declare-callback.ts";
import type { AgentStartCallback } from "./event-hooks.ts";

/**
 * Runs a callback once for each delivered message, also for one that joins a response, after it is durable and before the
 * model reads it. The callbacks of one message run side by side; the model waits for the slowest. A throw fails the
 * submission.
 *
 * A crash may run a callback again; its state writes and signals become durable once, together.
 *
 * @example
 * ```ts
 * export const support: Agent = () => {
 *   useModel(defaultModel());
 *   const [profile, setProfile] = usePersistentState<Profile>("profile");
 *   const customer = useInitialData<{ customer: string }>().customer;
 *   useAgentStart(async ({ append, signal }) => {
 *     if (profile) return;
 *     setProfile(await loadProfile(customer, { signal }));
 *     append({ kind: "signal", type: "profile", body: "The customer's profile was loaded." });
 *   });
 *   return "You answer customers.";
 * };
 * ```
 */
export function useAgentStart(run: AgentStartCallback): void {
  declareCallback("useAgentStart", "agentStart", run);
}
