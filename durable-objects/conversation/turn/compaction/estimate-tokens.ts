/**
 * Tokens of messages as far as they can be told without asking: four characters each, rounded up a message.
 *
 * Source: contract RUNTIME 6.
 */
import type { Message } from "@earendil-works/pi-ai";

const UNITS_PER_TOKEN = 4;
const IMAGE_UNITS = 4_800;

function unitsOf(message: Message): number {
  if (typeof message.content === "string") return message.content.length;
  let units = 0;
  for (const part of message.content) {
    if (part.type === "text") units += part.text.length;
    else if (part.type === "thinking") units += part.thinking.length;
    else if (part.type === "image") units += IMAGE_UNITS;
    else if (part.type === "toolCall") units += part.name.length + JSON.stringify(part.arguments).length;
  }
  return units;
}

export function estimateTextTokens(text: string): number {
  return Math.ceil(text.length / UNITS_PER_TOKEN);
}

export function estimateTokens(messages: readonly Message[]): number {
  return messages.reduce((sum, message) => sum + Math.ceil(unitsOf(message) / UNITS_PER_TOKEN), 0);
}

/** UTF-16 units that count as that many tokens. */
export function unitsOfTokens(tokens: number): number {
  return tokens * UNITS_PER_TOKEN;
}
