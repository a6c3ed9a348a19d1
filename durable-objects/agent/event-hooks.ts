/**
 * The callbacks an agent declares for the seams of a response, and what each is given.
 *
 * Callbacks run at least once; what they make durable, exactly once. They have no identity across renders: each seam runs
 * what the render at that seam declares.
 *
 * Source: contract RUNTIME 4.
 */
import type { SignalDelivery, TokenUsage } from "../protocol/submission.ts";
import type { ToolLog } from "./author-tool.ts";
import type { Harness } from "./harness.ts";

/** A signal that a callback appends to the response. */
export type AppendedSignal = SignalDelivery;

export interface ResponseToolCall {
  tool: string;
  isError: boolean;
}

/** The response as its records tell it, earlier attempts included. */
export interface ResponseSummary {
  readonly toolCalls: readonly ResponseToolCall[];
  readonly usage: TokenUsage;
}

export interface AgentStartContext {
  /** Writes a signal into this response. Only while the callback runs; runtime signal types are refused. */
  append(signal: AppendedSignal): void;
  /** Of this call of the callback; made when it is first asked for. */
  readonly harness: Harness;
  readonly log: ToolLog;
  /** Aborts with the submission. */
  readonly signal: AbortSignal;
}

export interface AgentFinishContext extends AgentStartContext {
  readonly response: ResponseSummary;
}

export interface ResponseStartContext {
  /** What callbacks before this one have attached. */
  readonly metadata: Record<string, unknown>;
  readonly log: ToolLog;
}

export interface ResponseFinishContext extends ResponseStartContext {
  readonly response: ResponseSummary;
}

export type AgentStartCallback = (context: AgentStartContext) => void | Promise<void>;
export type AgentFinishCallback = (context: AgentFinishContext) => void | Promise<void>;
/** Gives what to merge into the metadata of the response's message. */
export type MetadataCallback<Context> = (
  context: Context,
  // biome-ignore lint/suspicious/noConfusingVoidType: an author's function may simply not return.
) => Record<string, unknown> | undefined | void;

/** In declaration order. */
export interface EventHooks {
  agentStart: AgentStartCallback[];
  agentFinish: AgentFinishCallback[];
  responseStart: MetadataCallback<ResponseStartContext>[];
  responseFinish: MetadataCallback<ResponseFinishContext>[];
}

export function noEventHooks(): EventHooks {
  return { agentStart: [], agentFinish: [], responseStart: [], responseFinish: [] };
}
