/**
 * A transcript as text for the model that summarises it, in blocks that can be told apart and folded in parts; and the
 * files its calls have read and changed.
 *
 * Source: contract RUNTIME 6.
 */
import type { Message } from "@earendil-works/pi-ai";

const MAX_RESULT_UNITS = 2_000;

function textOf(content: Message["content"]): string {
  if (typeof content === "string") return content;
  return content.map((part) => (part.type === "text" ? part.text : part.type === "image" ? "[image]" : "")).join("");
}

function cut(text: string): string {
  if (text.length <= MAX_RESULT_UNITS) return text;
  return `${text.slice(0, MAX_RESULT_UNITS).toWellFormed()}\n[${text.length - MAX_RESULT_UNITS} more characters]`;
}

function blocksOf(message: Message): string[] {
  if (message.role === "user") return [`[User]: ${textOf(message.content)}`];
  if (message.role === "toolResult") return [`[Tool result]: ${cut(textOf(message.content))}`];
  if (message.role !== "assistant") return [];
  const thinking = message.content.flatMap((part) => (part.type === "thinking" ? [part.thinking] : []));
  const calls = message.content.flatMap((part) =>
    part.type === "toolCall" ? [`${part.name}(${cut(JSON.stringify(part.arguments))})`] : [],
  );
  const text = textOf(message.content);
  return [
    ...(thinking.join("").trim() === "" ? [] : [`[Assistant thinking]: ${thinking.join("\n")}`]),
    ...(text.trim() === "" ? [] : [`[Assistant]: ${text}`]),
    ...(calls.length === 0 ? [] : [`[Assistant tool calls]: ${calls.join("; ")}`]),
  ];
}

/** One block a message or less; joined by blank lines they are the conversation. */
export function serializeMessages(messages: readonly Message[]): string[] {
  return messages.flatMap(blocksOf);
}

export interface TouchedFiles {
  read: Set<string>;
  modified: Set<string>;
}

/** Adds the paths of read, write and edit calls. A file that was changed is not listed as read. */
export function collectFiles(messages: readonly Message[], files: TouchedFiles): void {
  for (const message of messages) {
    if (message.role !== "assistant") continue;
    for (const part of message.content) {
      if (part.type !== "toolCall" || typeof part.arguments.path !== "string") continue;
      if (part.name === "read") files.read.add(part.arguments.path);
      else if (part.name === "write" || part.name === "edit") files.modified.add(part.arguments.path);
    }
  }
}
