/**
 * One conversation from a caller's side: plain HTTP, every call with a deadline, nothing of the product but its wire types.
 */
import type { WireChunk, WireMessage, WireSettlement, WireSnapshot } from "../../durable-objects/protocol/wire.ts";
import { type EventFrame, readEventStream } from "./event-stream.ts";
import { within } from "./within.ts";

const CALL_MS = 40_000;
const SETTLE_MS = 30_000;
const POLL_MS = 40;

export interface WireReceipt {
  streamUrl: string;
  offset: string;
  submissionId: string;
  uid: string;
}

export interface WireError {
  error: { type: string; message: string; details: string; meta?: Record<string, unknown>; ref?: string };
}

/** A live reader: what it has seen so far, and where a next one goes on. */
export interface LiveReader {
  readonly frames: EventFrame[];
  readonly chunks: WireChunk[];
  readonly response: Response;
  /** `streamNextOffset` of the last control event. */
  offset(): string | undefined;
  /** Resolves once `wanted` is true of the reader; checked at every frame. */
  until(wanted: (reader: LiveReader) => boolean): Promise<void>;
  close(): void;
}

export interface ConversationClient {
  readonly url: string;
  call(method: string, path?: string, init?: RequestInit): Promise<Response>;
  /** POSTs a body as JSON; any answer. */
  post(body: unknown, headers?: Record<string, string>): Promise<Response>;
  /** POSTs a person's message; throws unless it was admitted. */
  send(text: string): Promise<WireReceipt>;
  history(): Promise<WireSnapshot>;
  /** Every chunk from an offset to the head, page after page, checkpoints left out. */
  chunksFrom(offset: string): Promise<WireChunk[]>;
  live(offset: string, headers?: Record<string, string>): Promise<LiveReader>;
  abort(): Promise<{ aborted: boolean }>;
  /** Asks until the submission is settled. A server that is away for a while is no failure. */
  settled(submissionId: string): Promise<WireSettlement>;
}

let count = 0;

/** An id no other test uses, in this run or an earlier one. */
export function freshId(): string {
  count += 1;
  return `t-${Date.now().toString(36)}-${process.pid.toString(36)}-${count}`;
}

export function openConversation(baseUrl: string, agent: string, id: string = freshId()): ConversationClient {
  const url = `${baseUrl}/agents/${agent}/${encodeURIComponent(id)}`;
  const call = (method: string, path = "", init: RequestInit = {}) =>
    within(CALL_MS, (signal) => fetch(url + path, { ...init, method, signal: init.signal ?? signal }));
  const post = (body: unknown, headers: Record<string, string> = {}) =>
    call("POST", "", { body: JSON.stringify(body), headers: { "content-type": "application/json", ...headers } });
  const history = async () => readJson<WireSnapshot>(await call("GET", "?view=history"), 200);

  return {
    url,
    call,
    post,
    history,
    send: async (text) => readJson<WireReceipt>(await post({ kind: "user", body: text }), 202),
    abort: async () => readJson<{ aborted: boolean }>(await call("POST", "/abort"), 200),
    live: (offset, headers = {}) => openLive(`${url}?view=updates&offset=${offset}&live=sse`, headers),
    async chunksFrom(offset) {
      const chunks: WireChunk[] = [];
      for (let at = offset; ; ) {
        const answer = await call("GET", `?view=updates&offset=${at}`);
        chunks.push(
          ...(await readJson<WireChunk[]>(answer, 200)).filter((chunk) => chunk.type !== "stream-checkpoint"),
        );
        const next = answer.headers.get("stream-next-offset");
        if (next === null) throw new Error("A page of updates without Stream-Next-Offset");
        if (answer.headers.get("stream-up-to-date") === "true") return chunks;
        if (next === at) throw new Error(`The page from ${at} neither moves nor reaches the head`);
        at = next;
      }
    },
    async settled(submissionId) {
      const end = Date.now() + SETTLE_MS;
      let trouble: unknown;
      while (Date.now() < end) {
        const snapshot = await history().catch((error: unknown) => {
          trouble = error;
          return undefined;
        });
        const settlement = snapshot?.settlements.find((entry) => entry.submissionId === submissionId);
        if (settlement) return settlement;
        await new Promise((resolve) => setTimeout(resolve, POLL_MS));
      }
      throw new Error(`${submissionId} was not settled in time`, { cause: trouble });
    },
  };
}

/** The body as JSON; throws with what came unless the status is the expected one. */
export async function readJson<T>(answer: Response, status: number): Promise<T> {
  const text = await within(CALL_MS, () => answer.text());
  if (answer.status !== status) throw new Error(`${answer.url}: ${answer.status} ${text.slice(0, 500)}`);
  // A test asserts on what it got; a shape that is not there fails there.
  return JSON.parse(text) as T;
}

/** The visible text of a submission's reply. */
export function replyOf(messages: readonly WireMessage[], submissionId: string): string {
  return messages
    .filter((message) => message.role === "assistant" && message.submissionId === submissionId)
    .flatMap((message) => message.parts)
    .map((part) => (part.type === "text" && "text" in part ? part.text : ""))
    .join("");
}

async function openLive(url: string, headers: Record<string, string>): Promise<LiveReader> {
  const hangUp = new AbortController();
  const response = await fetch(url, { headers: { accept: "text/event-stream", ...headers }, signal: hangUp.signal });
  const { body } = response;
  if (response.status !== 200 || body === null) throw new Error(`${url}: ${response.status} ${await response.text()}`);
  const frames: EventFrame[] = [];
  const chunks: WireChunk[] = [];
  let changed = Promise.withResolvers<void>();
  let over: unknown;
  const read = async () => {
    for await (const frame of readEventStream(body)) {
      frames.push(frame);
      if (frame.event === "data") chunks.push(...(JSON.parse(frame.data) as WireChunk[]));
      changed.resolve();
      changed = Promise.withResolvers();
    }
    throw new Error("The server ended the stream");
  };
  read().catch((error: unknown) => {
    over = error;
    changed.resolve();
  });
  const reader: LiveReader = {
    frames,
    chunks,
    response,
    offset() {
      const control = frames.findLast((frame) => frame.event === "control");
      return control && (JSON.parse(control.data) as { streamNextOffset: string }).streamNextOffset;
    },
    async until(wanted) {
      const deadline = setTimeout(() => {
        over ??= new Error(`The stream did not bring it in ${SETTLE_MS} ms: ${JSON.stringify(frames.slice(-5))}`);
        changed.resolve();
      }, SETTLE_MS);
      try {
        while (!wanted(reader)) {
          if (over) throw over;
          await changed.promise;
        }
      } finally {
        clearTimeout(deadline);
      }
    },
    close: () => hangUp.abort(),
  };
  return reader;
}
