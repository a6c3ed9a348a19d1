/**
 * `useInstruction`: one more part of the instruction document, after the text the agent returns.
 *
 * Source: contract RUNTIME 4, 5.
 */
import { authoringError, currentFrame } from "./frame.ts";
import { isNonEmptyString } from "./options.ts";

/**
 * Appends a text to the instructions. The parts stand in call order with a blank line between.
 *
 * @example
 * ```ts
 * export const writer: Agent = ({ id }) => {
 *   useModel(defaultModel());
 *   if (id.startsWith("de-")) useInstruction("Answer in German.");
 *   return "You write short texts.";
 * };
 * ```
 */
export function useInstruction(text: string): void {
  const frame = currentFrame("useInstruction");
  if (!isNonEmptyString(text)) {
    throw authoringError(frame.agent, "misused useInstruction(): the text must be a non-empty string.");
  }
  frame.instructions.push(text);
}
