/**
 * The strict reading of a chat request: everything a fussy provider would refuse, as sentences.
 *
 * 1. at most one system message, and it is the first
 * 2. every call has exactly one result, before any other message (T1)
 * 3. call ids are safe, and unique in the request
 * 4. arguments are a JSON object
 * 5. no message is empty
 * 6. every string is well formed
 * 7. somebody asked something, and the model has not the last word
 */
import { type ChatMessage, type ChatRequest, textOf } from "./script.ts";

const SAFE_ID = /^[A-Za-z0-9_-]{1,64}$/;

function isSystem(message: ChatMessage): boolean {
  return message.role === "system" || message.role === "developer";
}

function isObjectText(text: string | undefined): boolean {
  try {
    const value: unknown = JSON.parse(text ?? "");
    return typeof value === "object" && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}

function hasContent(message: ChatMessage): boolean {
  if (Array.isArray(message.content)) {
    const parts: { type?: string; text?: string }[] = message.content;
    return parts.length > 0 && parts.every((part) => part.type !== "text" || (part.text ?? "") !== "");
  }
  return typeof message.content === "string" && message.content !== "";
}

function findIllFormed(value: unknown, path: string, problems: string[]): void {
  if (typeof value === "string") {
    if (!value.isWellFormed()) problems.push(`${path} holds half of a surrogate pair`);
  } else if (typeof value === "object" && value !== null) {
    for (const [name, inner] of Object.entries(value)) findIllFormed(inner, `${path}.${name}`, problems);
  }
}

/** Follows the calls through the messages: which are open, which ids were used. */
class CallLedger {
  readonly #used = new Set<string>();
  readonly #open = new Set<string>();
  readonly #problems: string[];

  constructor(problems: string[]) {
    this.#problems = problems;
  }

  call(at: number, call: NonNullable<ChatMessage["tool_calls"]>[number]): void {
    const id = call.id ?? "";
    if (!SAFE_ID.test(id)) this.#problems.push(`message ${at}: call id ${JSON.stringify(id)} is not safe`);
    if (this.#used.has(id)) this.#problems.push(`message ${at}: call id ${id} was used before`);
    if (!call.function?.name) this.#problems.push(`message ${at}: call ${id} names no tool`);
    if (!isObjectText(call.function?.arguments)) {
      this.#problems.push(`message ${at}: the arguments of call ${id} are no JSON object`);
    }
    this.#used.add(id);
    this.#open.add(id);
  }

  result(at: number, id: string): void {
    if (this.#open.delete(id)) return;
    const why = this.#used.has(id) ? "is a second one or comes late" : "belongs to no call";
    this.#problems.push(`message ${at}: the result of ${id} ${why}`);
  }

  /** No result may come any more: another message stands at `at`, or the request ends. */
  close(at: number): void {
    for (const id of this.#open) this.#problems.push(`message ${at}: call ${id} has no result before it`);
    this.#open.clear();
  }
}

export function checkRequest(body: ChatRequest): string[] {
  const problems: string[] = [];
  const ledger = new CallLedger(problems);
  body.messages.forEach((message, at) => {
    if (message.role === "tool") {
      ledger.result(at, message.tool_call_id ?? "");
      if (!hasContent(message)) problems.push(`message ${at}: an empty tool result`);
      return;
    }
    ledger.close(at);
    if (isSystem(message) && at > 0) problems.push(`message ${at}: a ${message.role} message after the first`);
    const calls = message.tool_calls ?? [];
    for (const call of calls) ledger.call(at, call);
    const empty = message.role === "assistant" ? textOf(message.content).trim() === "" : !hasContent(message);
    if (empty && calls.length === 0) problems.push(`message ${at}: an empty ${message.role} message`);
  });
  ledger.close(body.messages.length);
  if (!body.messages.some((message) => message.role === "user")) problems.push("no user message");
  if (body.messages.at(-1)?.role === "assistant") problems.push("the last message is the assistant's");
  findIllFormed(body, "body", problems);
  return problems;
}
