/**
 * Tool-call ids made safe and unique in the whole conversation. Some servers count from zero in every response, repeat an
 * id or send none; an id names one execution for ever (TOOLS 12), so a repeated one would bring back another call's
 * outcome. An id that is already fine stays as it is.
 *
 * Source: contract RUNTIME 9; ARCHITECTURE 5.
 */
import type { AssistantMessage } from "@earendil-works/pi-ai";
import type { Ids } from "../../protocol/ids.ts";
import { MAX_TOOL_CALL_ID_CHARS } from "../../protocol/limits.ts";

/** Anthropic takes back these characters only. */
const SAFE_CHARACTERS = /^[A-Za-z0-9_-]+$/;

function isSafe(id: string): boolean {
  return SAFE_CHARACTERS.test(id) && id.length <= MAX_TOOL_CALL_ID_CHARS;
}

/** Changes the message in place: the loop runs the very calls that are recorded. */
export function makeCallIdsUnique(message: AssistantMessage, isTaken: (id: string) => boolean, ids: Ids): void {
  const seen = new Set<string>();
  for (const part of message.content) {
    if (part.type !== "toolCall") continue;
    if (!isSafe(part.id) || seen.has(part.id) || isTaken(part.id)) part.id = ids.next("call");
    seen.add(part.id);
  }
}
