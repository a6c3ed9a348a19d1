/**
 * One provider response over HTTP: pi's stream, with what the wire said kept on the final message.
 *
 * pi folds an HTTP fault into a text. The status, the wait the provider asks for, and whether anything was answered at
 * all are lost there, so `fetch` is watched and the facts are attached as one diagnostic, which
 * `classifyProviderFault` reads. What servers send against the protocol is mended on the way in: lines, events, and a
 * fault that comes as a 200.
 *
 * Source: contract RUNTIME 9.
 */
import type { StreamFn } from "@earendil-works/pi-agent-core";
import type {
  Api,
  AssistantMessage,
  Message,
  Model,
  ProviderStreams,
  SimpleStreamOptions,
} from "@earendil-works/pi-ai";
import { AssistantMessageEventStream } from "@earendil-works/pi-ai/utils/event-stream";
import { readEmbeddedStatus } from "./embedded-error.ts";
import { emptyMessage } from "./empty-message.ts";
import { parseJsonObject } from "./json-object.ts";
import { type EventMender, mendEventStream } from "./mend-event-stream.ts";

/** Type of the diagnostic that holds `ProviderResponseFacts`. */
export const PROVIDER_RESPONSE = "provider_response";

export type ProviderResponseFacts = {
  /** A request left; without one the fault is ours. */
  requested: boolean;
  /** Absent when no answer came. */
  status?: number;
  /** What `Retry-After` asks for, in milliseconds from when it was read. */
  retryAfterMs?: number;
};

export interface ProviderStreamConfig {
  api: ProviderStreams;
  /** Sent as the provider wants it; never logged, never in an error. */
  apiKey: string;
  headers?: Record<string, string | null>;
  fetch?: typeof globalThis.fetch;
  /** A last look at what is sent, beside the messages it was made of. Gives what to send. */
  adjustPayload?(payload: unknown, messages: readonly Message[]): unknown;
  /** Makes the mender of one response. */
  createMender?(): EventMender;
  now?: () => number;
}

const HTTP_OK = 200;
/** A date names a whole second, which is waited for to its end. */
const HTTP_DATE_GRAIN_MS = 1000;
/** Headers that describe a body as it came over the line. */
const BODY_HEADERS: readonly string[] = ["content-encoding", "content-length", "transfer-encoding"];

/**
 * The wait in milliseconds that an answer asks for: `Retry-After-Ms`, seconds, or an HTTP date, by the provider's own
 * clock where it tells its time. Nothing where it is unreadable or over already.
 */
export function readRetryAfterMs(headers: Headers, now: number): number | undefined {
  const millis = Number.parseFloat(headers.get("retry-after-ms") ?? "");
  const value = headers.get("retry-after")?.trim() ?? "";
  const delay = Number.isFinite(millis) ? millis : readDelayMs(value, Date.parse(headers.get("date") ?? ""), now);
  return Number.isFinite(delay) && delay > 0 ? delay : undefined;
}

function readDelayMs(value: string, providerNow: number, now: number): number {
  if (/^[+-]?\d+(?:\.\d+)?$/.test(value)) return Number(value) * 1000;
  return Date.parse(value) + HTTP_DATE_GRAIN_MS - (Number.isFinite(providerNow) ? providerNow : now);
}

/** The answer as pi can read it: a fault told in a 200 becomes one, and an event stream has the lines of one. */
async function mendResponse(response: Response, facts: ProviderResponseFacts, mend: EventMender): Promise<Response> {
  const { status, statusText, body } = response;
  if (status !== HTTP_OK || !body) return response;
  const headers = new Headers(response.headers);
  for (const name of BODY_HEADERS) headers.delete(name);
  if (!/\bjson\b/.test(headers.get("content-type") ?? "")) {
    const mended = mendEventStream(body, (event) => {
      const told = readEmbeddedStatus(event);
      if (told !== undefined) facts.status = told;
      mend(event);
    });
    return new Response(mended, { status, statusText, headers });
  }
  // A stream was asked for: what comes as plain JSON is short.
  const text = await response.text();
  const told = readEmbeddedStatus(parseJsonObject(text));
  if (told !== undefined) facts.status = told;
  return new Response(text, { status: told ?? status, headers });
}

function watchFetch(config: ProviderStreamConfig, facts: ProviderResponseFacts): typeof globalThis.fetch {
  const mend = config.createMender?.() ?? (() => {});
  const now = config.now ?? Date.now;
  const inner = config.fetch ?? ((input: RequestInfo | URL, init?: RequestInit) => fetch(input, init));
  return async (input, init) => {
    facts.requested = true;
    const response = await inner(input, init);
    facts.status = response.status;
    const retryAfterMs = readRetryAfterMs(response.headers, now());
    if (retryAfterMs !== undefined) facts.retryAfterMs = retryAfterMs;
    return mendResponse(response, facts, mend);
  };
}

function attachFacts(message: AssistantMessage, facts: ProviderResponseFacts, now: number): void {
  message.diagnostics = [...(message.diagnostics ?? []), { type: PROVIDER_RESPONSE, timestamp: now, details: facts }];
}

async function forward(
  source: AsyncIterable<Parameters<AssistantMessageEventStream["push"]>[0]>,
  target: AssistantMessageEventStream,
  finish: (message: AssistantMessage) => void,
): Promise<void> {
  for await (const event of source) {
    if (event.type === "done") finish(event.message);
    if (event.type === "error") finish(event.error);
    target.push(event);
  }
  target.end();
}

function setupFault(model: Model<Api>, error: unknown, timestamp: number): AssistantMessage {
  return {
    ...emptyMessage(model, "error", timestamp),
    errorMessage: error instanceof Error ? error.message : String(error),
  };
}

/** The stream function of a provider that is asked over HTTP. Retries and waits are the engine's, so none happen here. */
export function createProviderStream(config: ProviderStreamConfig): StreamFn {
  const now = config.now ?? Date.now;
  return (model, context, options) => {
    const facts: ProviderResponseFacts = { requested: false };
    const target = new AssistantMessageEventStream();
    const finish = (message: AssistantMessage) => {
      if (message.stopReason === "error") attachFacts(message, facts, now());
    };
    const request: SimpleStreamOptions = {
      ...options,
      apiKey: config.apiKey,
      fetch: watchFetch(config, facts),
      identity: { attribution: null },
      maxRetries: 0,
      cacheRetention: options?.cacheRetention ?? "short",
    };
    if (config.adjustPayload) request.onPayload = (payload) => config.adjustPayload?.(payload, context.messages);
    if (config.headers !== undefined) request.headers = { ...config.headers, ...options?.headers };
    const fail = (error: unknown) => {
      const message = setupFault(model, error, now());
      attachFacts(message, facts, now());
      target.push({ type: "error", reason: "error", error: message });
      target.end(message);
    };
    try {
      forward(config.api.streamSimple(model, context, request), target, finish).catch(fail);
    } catch (error) {
      fail(error);
    }
    return target;
  };
}
