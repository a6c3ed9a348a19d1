/**
 * The name of a conversation's own machine: short enough for every provider, and another one for every incarnation.
 *
 * Source: ARCHITECTURE 6.
 */
import { createHash } from "node:crypto";

const HEX_DIGITS = 40;

/** @param objectName `<agent>/<id>` @param uid of the conversation's birth */
export function deriveSandboxId(objectName: string, uid: string): string {
  const digest = createHash("sha256").update(`${objectName}\n${uid}`).digest("hex");
  return `b-${digest.slice(0, HEX_DIGITS)}`;
}
