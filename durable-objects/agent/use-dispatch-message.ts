/**
 * `useDispatchMessage`: a way for an agent to send a message to itself.
 *
 * Source: contract RUNTIME 3.1, 4.
 */
import { parseDeliveredMessage } from "../protocol/delivered-message.ts";
import type { DeliveredMessage } from "../protocol/submission.ts";
import { authoringError, currentFrame } from "./frame.ts";
import type { DispatchReceipt, RenderRuntime } from "./render-runtime.ts";
import { requireWritable } from "./write-guard.ts";

/** A string is a user message. */
export type DeliveredMessageInput = string | DeliveredMessage;

/**
 * Gives a function that admits a message to this conversation, as a POST would: it joins the response that runs, or
 * starts one. Resolves once the message is durable. Each call is a delivery of its own, also when a crash makes a tool
 * run again. `useAgentStart` runs for such a message as for any other: dispatch there only for some.
 *
 * @example
 * ```ts
 * export const watcher: Agent = () => {
 *   useModel(defaultModel());
 *   const dispatch = useDispatchMessage();
 *   const delivery = useDelivery();
 *   useAgentStart(async () => {
 *     if (delivery.kind !== "user") return;
 *     await dispatch({ kind: "signal", type: "weather", body: await readWeather() });
 *   });
 *   return "You watch the weather.";
 * };
 * ```
 */
export function useDispatchMessage(): (message: DeliveredMessageInput) => Promise<DispatchReceipt> {
  const frame = currentFrame("useDispatchMessage");
  if (frame.subagent) {
    throw authoringError(
      frame.agent,
      "misused useDispatchMessage(): it is not available in a subagent render. A delegate answers with its result.",
    );
  }
  return (message) => {
    // Thrown, not rejected: in a render nobody can await the promise, and the fault would pass unseen.
    const runtime = requireWritable(frame, "the dispatcher of useDispatchMessage()");
    return send(runtime, message);
  };
}

async function send(runtime: RenderRuntime, message: DeliveredMessageInput): Promise<DispatchReceipt> {
  return runtime.dispatch(
    parseDeliveredMessage(typeof message === "string" ? { kind: "user", body: message } : message),
  );
}
