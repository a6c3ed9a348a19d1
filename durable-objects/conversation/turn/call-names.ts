/**
 * Names of called tools made safe. A model may call what there is not, under a name that no provider takes back: the
 * refusal of the call would be the last thing the conversation ever heard.
 *
 * Source: contract RUNTIME 9.
 */
import type { AssistantMessage } from "@earendil-works/pi-ai";
import { MAX_TOOL_NAME_CHARS } from "../../protocol/limits.ts";

const UNSAFE_CHARACTERS = /[^A-Za-z0-9_-]/g;
const NO_NAME = "unnamed";

/** Changes the message in place: the loop runs the very calls that are recorded. */
export function makeCallNamesSafe(message: AssistantMessage): void {
  for (const part of message.content) {
    if (part.type !== "toolCall") continue;
    part.name = part.name.replace(UNSAFE_CHARACTERS, "_").slice(0, MAX_TOOL_NAME_CHARS) || NO_NAME;
  }
}
