/**
 * What a model is told to do in a test: one turn an answer, in order.
 *
 * A script is registered under a key; a user message that holds `scriptToken(key)` is answered from it. The last token
 * among the user messages of a request decides.
 */

export interface ScriptedCall {
  id: string;
  name: string;
  /** A string is sent as it is, for arguments that are no JSON. */
  arguments: Record<string, unknown> | string;
}

/** Until when a stream pauses: milliseconds, or something the test opens. */
export type Pause = { waitMs: number } | { gate: Promise<unknown> };

/**
 * What goes wrong, and how far the answer had come: before `text` the text given beside it is sent, before `call` also
 * the first call without the end of its arguments.
 */
export type ModelFault =
  /** Any whole answer; a body that is no text is sent as JSON. */
  | { kind: "http"; status: number; headers?: Record<string, string>; body?: unknown }
  | { kind: "hang"; after: "request" | "headers" | "text" | "call" }
  /** The connection is reset. */
  | { kind: "cut"; after: "request" | "headers" | "text" | "call" }
  /** The stream ends as if nothing were wrong. */
  | { kind: "end"; after: "headers" | "text" | "call" }
  /** The provider's own error, in the middle of its stream. */
  | { kind: "error"; after: "headers" | "text" | "call"; error: Record<string, unknown> }
  | { kind: "raw"; sse: string };

/** Liberties of the line. */
export interface WireHabits {
  lineEnd?: "\r\n" | "\r";
  isBytewise?: boolean;
  hasPings?: boolean;
}

export interface ModelTurn {
  /** Pieces become one delta each. */
  text?: string | readonly (string | Pause)[];
  reasoning?: string;
  calls?: readonly ScriptedCall[];
  usage?: { input: number; output: number } | null;
  /** Default: `tool_calls` with calls, else `stop`. */
  stop?: string;
  /** Before the first byte of the answer. */
  pause?: Pause;
  fault?: ModelFault;
  wire?: WireHabits;
}

export type TurnSource = readonly ModelTurn[] | ((request: RecordedRequest) => ModelTurn | Promise<ModelTurn>);

export interface ChatMessage {
  role: string;
  content?: unknown;
  tool_calls?: { id?: string; type?: string; function?: { name?: string; arguments?: string } }[];
  tool_call_id?: string;
}

/** A request in either protocol; in Messages a tool has its name at the top and results are blocks of a user's message. */
export interface ChatRequest {
  model?: string;
  stream?: boolean;
  messages: ChatMessage[];
  tools?: { name?: string; function?: { name: string; description?: string; parameters?: unknown } }[];
  [name: string]: unknown;
}

export interface RecordedRequest {
  /** 0 for the first request of the server. */
  number: number;
  key: string | undefined;
  body: ChatRequest;
  /** Milliseconds since the epoch. */
  at: number;
  headers: Record<string, string | string[] | undefined>;
  /** Sentences of the strict checker; empty = a fussy provider would take it. */
  problems: string[];
  /** The text of the turn that answers it, once that is known. */
  answer?: string;
  /** `answered`: every byte of the turn was sent; `gone`: the caller hung up first. */
  state: "open" | "answered" | "gone";
}

const TOKEN = /\[\[script:([A-Za-z0-9_.-]+)\]\]/g;

export function scriptToken(key: string): string {
  return `[[script:${key}]]`;
}

export function argumentsText(call: ScriptedCall): string {
  return typeof call.arguments === "string" ? call.arguments : JSON.stringify(call.arguments);
}

/** The text of a message's content, whatever its form. */
export function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content.map((part) => (typeof part?.text === "string" ? part.text : "")).join("\n");
}

/** The text a turn says. */
export function spokenText({ text = "" }: ModelTurn): string {
  return typeof text === "string" ? text : text.map((piece) => (typeof piece === "string" ? piece : "")).join("");
}

/** Key of the script that answers a request. */
export function readScriptKey(body: ChatRequest): string | undefined {
  const users = body.messages.filter((message) => message.role === "user").map((message) => textOf(message.content));
  return [...users.join("\n").matchAll(TOKEN)].at(-1)?.[1];
}

/** The tool results of a request, in order. */
export function readToolResults(body: ChatRequest): { id: string; text: string }[] {
  return body.messages.flatMap(({ role, content, tool_call_id = "" }) => {
    if (role === "tool") return [{ id: tool_call_id, text: textOf(content) }];
    const blocks: { type?: string; tool_use_id?: string; content?: unknown }[] = Array.isArray(content) ? content : [];
    const results = blocks.filter((block) => block.type === "tool_result");
    return results.map((block) => ({ id: block.tool_use_id ?? "", text: textOf(block.content) }));
  });
}
