/**
 * Composes the system prompt: the sections in order, a blank line between, nothing of our own around them.
 *
 * Well-formed Unicode: half a surrogate pair, of a text that was cut, would come back from storage as another text than
 * was sent. Pure, so the same input gives the same bytes; the caller stores them and sends them unchanged until the next epoch (P1).
 *
 * Source: contract RUNTIME 5.
 */
import { SECTIONS } from "./index.ts";
import type { PromptInput } from "./section.ts";

export function composePrompt(input: PromptInput): string {
  return SECTIONS.map((section) => section.render(input))
    .filter((text) => text !== undefined && text !== "")
    .join("\n\n")
    .toWellFormed();
}
