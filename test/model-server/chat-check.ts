/**
 * The strict reading of a chat request: everything a fussy provider would refuse, as sentences.
 *
 * 1. at most one system message, and it is the first; every other role is known
 * 2. every call has exactly one result, before any other message (T1)
 * 3. call ids are safe, and unique in the request
 * 4. arguments are a JSON object, names of tools are safe and unique
 * 5. no message is empty
 * 6. every string is well formed
 * 7. somebody asked something, and the model has not the last word
 * 8. images are a user's, as data or as an address
 * 9. the output has a limit
 */
import { CallLedger } from "./call-ledger.ts";
import { type ChatMessage, type ChatRequest, textOf } from "./script.ts";
import { findToolProblems } from "./tools-check.ts";
import { findIllFormed } from "./well-formed.ts";

const ROLES: readonly string[] = ["system", "developer", "user", "assistant", "tool"];
const IMAGE_URL = /^(?:https?:\/\/|data:image\/[a-z.+-]+;base64,[A-Za-z0-9+/]+=*$)/;

interface ContentPart {
  type?: string;
  text?: string;
  image_url?: { url?: string };
}

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

function partsOf(message: ChatMessage): ContentPart[] {
  return Array.isArray(message.content) ? message.content : [];
}

function hasContent(message: ChatMessage): boolean {
  if (Array.isArray(message.content)) {
    const parts = partsOf(message);
    return parts.length > 0 && parts.every((part) => part.type !== "text" || (part.text ?? "") !== "");
  }
  return typeof message.content === "string" && message.content !== "";
}

function findImageProblems(message: ChatMessage, at: number): string[] {
  const images = partsOf(message).filter((part) => part.type === "image_url");
  const foreign =
    images.length > 0 && message.role !== "user" ? [`message ${at}: an image of the ${message.role}`] : [];
  const broken = images.filter((part) => !IMAGE_URL.test(part.image_url?.url ?? ""));
  return [...foreign, ...broken.map(() => `message ${at}: an image that is none`)];
}

export function checkChatRequest(body: ChatRequest): string[] {
  const problems: string[] = [];
  const ledger = new CallLedger(problems);
  body.messages.forEach((message, at) => {
    if (!ROLES.includes(message.role)) problems.push(`message ${at}: the role ${message.role}`);
    problems.push(...findImageProblems(message, at));
    if (message.role === "tool") {
      ledger.result(at, message.tool_call_id ?? "");
      if (!hasContent(message)) problems.push(`message ${at}: an empty tool result`);
      return;
    }
    ledger.close(at);
    if (isSystem(message) && at > 0) problems.push(`message ${at}: a ${message.role} message after the first`);
    const calls = message.tool_calls ?? [];
    for (const { id = "", function: called } of calls) {
      ledger.call(at, { id, name: called?.name ?? "", hasObject: isObjectText(called?.arguments) });
    }
    const empty = message.role === "assistant" ? textOf(message.content).trim() === "" : !hasContent(message);
    if (empty && calls.length === 0) problems.push(`message ${at}: an empty ${message.role} message`);
  });
  ledger.close(body.messages.length);
  if (!body.messages.some((message) => message.role === "user")) problems.push("no user message");
  if (body.messages.at(-1)?.role === "assistant") problems.push("the last message is the assistant's");
  problems.push(...findToolProblems((body.tools ?? []).map((tool) => tool.function?.name ?? "")));
  const limit = body.max_tokens ?? body.max_completion_tokens;
  if (limit !== undefined && !(Number.isInteger(limit) && Number(limit) > 0))
    problems.push(`an output limit of ${limit}`);
  problems.push(...findIllFormed(body, "body"));
  return problems;
}
