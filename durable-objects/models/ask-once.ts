/**
 * One question to a model outside of any loop: no tools, no history.
 *
 * Source: contract RUNTIME 9.
 */
import type { AssistantMessage } from "@earendil-works/pi-ai";
import { normalizeContext } from "@earendil-works/pi-ai/utils/transcript";
import type { Timers } from "../protocol/clock.ts";
import { PROVIDER_IDLE_TIMEOUT_MS } from "../protocol/limits.ts";
import type { ResolvedModel } from "./model.ts";
import { failWhenSilent } from "./silence.ts";

export interface Question {
  systemPrompt: string;
  text: string;
  /** Tokens of the answer. */
  maxTokens: number;
  signal: AbortSignal;
  timers: Timers;
  /** Milliseconds since the epoch. */
  now: number;
}

/** Never rejects: a failure is a message with stop reason `error` or `aborted`. A model that reasons does so thoroughly. */
export async function askOnce({ model, stream }: ResolvedModel, question: Question): Promise<AssistantMessage> {
  const { systemPrompt, text, maxTokens, signal, timers, now } = question;
  const context = normalizeContext({ systemPrompt, messages: [{ role: "user", content: text, timestamp: now }] });
  const options = { signal, maxTokens, maxRetries: 0, ...(model.reasoning && { reasoning: "high" as const }) };
  const events = await failWhenSilent(stream, PROVIDER_IDLE_TIMEOUT_MS, timers)(model, context, options);
  return events.result();
}
