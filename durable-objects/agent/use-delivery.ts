/**
 * `useDelivery`: the message in front of the model.
 *
 * A cursor: it starts at the message that woke the response and moves on with each that joins it and with each signal an
 * event hook appends. The runtime's own signals do not move it.
 *
 * Source: contract RUNTIME 4.
 */
import type { DeliveredMessage } from "../protocol/submission.ts";
import { authoringError, currentFrame } from "./frame.ts";

/**
 * Gives the message as it was delivered; in a delegate the task it was given. A bare render has no message and throws.
 *
 * @example
 * ```ts
 * export const support: Agent = () => {
 *   useModel(defaultModel());
 *   const delivery = useDelivery();
 *   if (delivery.kind === "signal") useInstruction(`A machine wrote: ${delivery.type}.`);
 *   return "You answer customers.";
 * };
 * ```
 */
export function useDelivery(): DeliveredMessage {
  const frame = currentFrame("useDelivery");
  if (frame.runtime === undefined) {
    throw authoringError(frame.agent, "misused useDelivery(): a bare render has no message to answer.");
  }
  return frame.runtime.readDelivery();
}
