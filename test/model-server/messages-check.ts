/**
 * The strict reading of a Messages request: everything a fussy provider would refuse, as sentences.
 *
 * 1. the system prompt stands apart, and no message is of its role
 * 2. a user begins and a user ends
 * 3. every call has exactly one result, at the head of the message behind it (T1)
 * 4. call ids are safe and unique, arguments are an object, names of tools are safe and unique
 * 5. no message and no text block is empty or blank
 * 6. reasoning comes back with its signature
 * 7. images are base64 of a kind the provider reads
 * 8. the output has a limit, which leaves room behind the reasoning
 * 9. at most four places are marked for the cache, among them system prompt, last tool and newest message
 * 10. every string is well formed
 */
import { CallLedger } from "./call-ledger.ts";
import type { ChatMessage, ChatRequest } from "./script.ts";
import { findToolProblems } from "./tools-check.ts";
import { findIllFormed } from "./well-formed.ts";

const MAX_CACHE_MARKS = 4;
const IMAGE_TYPES: readonly string[] = ["image/jpeg", "image/png", "image/gif", "image/webp"];

interface Block {
  type?: string;
  text?: string;
  id?: string;
  name?: string;
  input?: unknown;
  tool_use_id?: string;
  content?: unknown;
  signature?: string;
  source?: { type?: string; media_type?: string; data?: string };
  cache_control?: unknown;
}

function blocksOf(content: unknown): Block[] {
  if (typeof content === "string") return [{ type: "text", text: content }];
  return Array.isArray(content) ? content : [];
}

function isBlank(text: string | undefined): boolean {
  return (text ?? "").trim() === "";
}

function isObject(value: unknown): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** What is wrong with a block, whatever stands around it. */
function findBlockProblems(block: Block, role: string): string[] {
  if (block.type === "text") return isBlank(block.text) ? [`a blank text block of the ${role}`] : [];
  if (block.type === "thinking") return block.signature ? [] : ["reasoning without its signature"];
  if (block.type === "image") {
    const { type, media_type = "", data = "" } = block.source ?? {};
    return type === "base64" && IMAGE_TYPES.includes(media_type) && data !== "" ? [] : [`an image that is none`];
  }
  if (block.type !== "tool_result") return [];
  const inner = blocksOf(block.content);
  return inner.length === 0 || inner.some((part) => part.type === "text" && part.text === "")
    ? ["an empty tool result"]
    : [];
}

function checkMessage(message: ChatMessage, at: number, ledger: CallLedger): string[] {
  const blocks = blocksOf(message.content);
  const problems = blocks.flatMap((block) => findBlockProblems(block, message.role));
  if (message.role !== "user" && message.role !== "assistant") problems.push(`the role ${message.role}`);
  if (blocks.length === 0) problems.push(`an empty ${message.role} message`);
  const results = blocks.filter((block) => block.type === "tool_result");
  if (blocks.slice(0, results.length).some((block) => block.type !== "tool_result")) {
    problems.push("a tool result behind something else");
  }
  for (const { tool_use_id = "" } of results) ledger.result(at, tool_use_id);
  ledger.close(at);
  for (const { type, id = "", name = "", input } of blocks) {
    if (type === "tool_use") ledger.call(at, { id, name, hasObject: isObject(input) });
  }
  return problems.map((text) => `message ${at}: ${text}`);
}

function findCacheProblems({ system, tools = [], messages }: ChatRequest): string[] {
  const systemBlocks = typeof system === "string" ? [] : blocksOf(system);
  const newest = blocksOf(messages.at(-1)?.content);
  const marked = [systemBlocks, tools as Block[], ...messages.map(({ content }) => blocksOf(content))].flat();
  const count = marked.filter((block) => block.cache_control).length;
  const places: [string, Block | undefined][] = [
    ["the system prompt", systemBlocks.at(-1)],
    ["the last tool", (tools as Block[]).at(-1)],
    ["the newest message", newest.at(-1)],
  ];
  return [
    ...(count > MAX_CACHE_MARKS ? [`${count} places are marked for the cache`] : []),
    ...places.flatMap(([name, block]) =>
      block && !block.cache_control ? [`${name} is not marked for the cache`] : [],
    ),
  ];
}

function findLimitProblems({ max_tokens: limit, thinking }: ChatRequest): string[] {
  if (!Number.isInteger(limit) || Number(limit) < 1) return [`an output limit of ${limit}`];
  const budget = (thinking as { budget_tokens?: number } | undefined)?.budget_tokens ?? 0;
  return budget >= Number(limit) ? ["no room behind the reasoning"] : [];
}

export function checkMessagesRequest(body: ChatRequest): string[] {
  const problems: string[] = [];
  const ledger = new CallLedger(problems);
  body.messages.forEach((message, at) => {
    problems.push(...checkMessage(message, at, ledger));
  });
  ledger.close(body.messages.length);
  if (body.messages[0]?.role !== "user") problems.push("the first message is not a user's");
  if (body.messages.at(-1)?.role !== "user") problems.push("the last message is not a user's");
  if (blocksOf(body.system).some((block) => isBlank(block.text))) problems.push("a blank system prompt");
  problems.push(...findToolProblems((body.tools ?? []).map((tool) => tool.name ?? "")));
  return [...problems, ...findLimitProblems(body), ...findCacheProblems(body), ...findIllFormed(body, "body")];
}
