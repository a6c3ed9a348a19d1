/**
 * An agent as its author writes it, and what one render of it yields.
 *
 * An agent is a synchronous function, run afresh before every model request; the hooks it calls record on an ambient
 * frame. Rendering is pure: it reads, it never writes.
 *
 * Source: contract RUNTIME 4.
 */

import type { TSchema } from "@sinclair/typebox";
import type { SandboxFactory } from "../../containers/sandbox.ts";
import type { Durability } from "../protocol/submission.ts";
import type { PackagedSkill } from "../skills/skill.ts";
import type { AuthoredTool } from "./author-tool.ts";
import type { DurabilityOptions } from "./durability.ts";
import type { EventHooks } from "./event-hooks.ts";
import type { ThinkingLevel } from "./thinking-level.ts";

export type { ThinkingLevel } from "./thinking-level.ts";

export interface AgentContext {
  /** The conversation's id, as the caller chose it. */
  id: string;
}

export interface Agent {
  /** Gives the first part of the instruction document, or nothing. */
  (context: AgentContext): string | undefined;
  /** The name it is served under; absent: its key in the deployer's list. */
  agentName?: string;
  description?: string;
  /** When its submissions are given up. */
  durability?: DurabilityOptions;
  /** Schema of what a conversation may be created with; absent: anything. */
  initialData?: TSchema;
}

/** An entry of `worker/agents/index.ts`: the agent, or the agent with how it is served. */
export type AgentEntry = Agent | { agent: Agent; http?: boolean };

/** The agent under the name it is served by. */
export interface RegisteredAgent {
  name: string;
  agent: Agent;
  /** `false`: only `dispatch()` reaches it. */
  http: boolean;
  description?: string;
  /** Absent: the defaults. */
  durability?: Durability;
}

/** When and how a conversation is summarised (RUNTIME 6); `false` switches the threshold off. */
export type CompactionChoice = false | { reserveTokens?: number; keepRecentTokens?: number; model?: string };

export interface ModelChoice {
  /** `provider/model`. */
  spec: string;
  thinkingLevel: ThinkingLevel;
  /** Absent: the defaults of RUNTIME 6. */
  compaction?: CompactionChoice;
}

export interface SandboxChoice {
  factory: SandboxFactory;
  cwd?: string;
}

/** What one render recorded. */
export interface RenderedAgent {
  /** Returned string first, then `useInstruction` texts, joined by a blank line. */
  instructions: string;
  model: ModelChoice;
  /** Absent: no file or shell tools, no workspace text in the prompt. */
  sandbox?: SandboxChoice;
  /** The author's own tools, in call order. */
  tools: AuthoredTool[];
  /** Declared skills, in call order. */
  skills: PackagedSkill[];
  /** Names of the data parts, the same in every render; absent: none. */
  dataParts?: string[];
  /** Callbacks for the seams of a response; absent: none. */
  eventHooks?: EventHooks;
}
