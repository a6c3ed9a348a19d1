/**
 * One provider response over HTTP: pi's stream, with what the wire said kept on the final message.
 *
 * pi folds an HTTP fault into a text. The status, the wait the provider asks for, and whether anything was answered at
 * all are lost there, so `fetch` is watched and the facts are attached as one diagnostic, which
 * `classifyProviderFault` reads.
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
import { emptyMessage } from "./empty-message.ts";

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
  now?: () => number;
}

/** The wait in milliseconds that an answer asks for: `Retry-After-Ms`, seconds, or an HTTP date. */
export function readRetryAfterMs(headers: Headers, now: number): number | undefined {
  const millis = Number.parseFloat(headers.get("retry-after-ms") ?? "");
  if (Number.isFinite(millis)) return Math.max(0, millis);
  const value = headers.get("retry-after")?.trim();
  if (!value) return undefined;
  const delay = /^\d+(?:\.\d+)?$/.test(value) ? Number(value) * 1000 : Date.parse(value) - now;
  return Number.isFinite(delay) ? Math.max(0, delay) : undefined;
}

function watchFetch(config: ProviderStreamConfig, facts: ProviderResponseFacts): typeof globalThis.fetch {
  const now = config.now ?? Date.now;
  const inner = config.fetch ?? ((input: RequestInfo | URL, init?: RequestInit) => fetch(input, init));
  return async (input, init) => {
    facts.requested = true;
    const response = await inner(input, init);
    facts.status = response.status;
    const retryAfterMs = readRetryAfterMs(response.headers, now());
    if (retryAfterMs !== undefined) facts.retryAfterMs = retryAfterMs;
    return response;
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
