/**
 * One run of the agent loop over records: the only place that meets pi-agent-core's loop.
 *
 * The context of every request is rebuilt from the transcript, so that what the provider sees is what is on record.
 * `emit` is awaited by the loop: a record is durable before what follows from it runs (T2).
 *
 * Source: contract RUNTIME 2.3, 2.6, 9; TOOLS 2.
 */
import {
  type AgentContext,
  type AgentEvent,
  type AgentLoopConfig,
  runAgentLoopContinue,
} from "@earendil-works/pi-agent-core";
import type { AssistantMessage, SystemMessage } from "@earendil-works/pi-ai";
import type { ModelChoice } from "../../agent/agent.ts";
import { isImageRefusal } from "../../models/image-refusal.ts";
import type { ResolvedModel } from "../../models/model.ts";
import { isProviderFault } from "../../models/provider-fault.ts";
import { toProviderMessages } from "../../models/provider-messages.ts";
import { failWhenSilent } from "../../models/silence.ts";
import { PROVIDER_IDLE_TIMEOUT_MS } from "../../protocol/limits.ts";
import type { DurableTool } from "../../tools/define-tool.ts";
import { makeCallIdsUnique } from "./call-ids.ts";
import { makeCallNamesSafe } from "./call-names.ts";
import type { AttemptPorts } from "./ports.ts";
import { StepWriter } from "./step-writer.ts";
import { toolResultRecord } from "./tool-result.ts";
import type { Transcript } from "./transcript.ts";

export interface LoopParts {
  ports: AttemptPorts;
  model: ResolvedModel;
  thinkingLevel: ModelChoice["thinkingLevel"];
  /** The frozen prompt; another one only after a compaction. */
  readSystemPrompt(): string;
  transcript: Transcript;
  /** Puts on record what the next request must tell, messages that join included, and gives the tools it offers. */
  prepareRequest(): Promise<DurableTool[]>;
  /** Where the response would stop: it goes on, or it is settled. */
  reachEnd(): Promise<"joined" | "settled">;
  /** Whether the step that is being made must be followed by a finish cycle. */
  awaitsFinish(): boolean;
}

/** How the loop came to its end; a `fault` step is not on record. */
export type LoopEnd = { kind: "settled" } | { kind: "fault"; message: AssistantMessage } | { kind: "cut" };

export async function runLoop(parts: LoopParts): Promise<LoopEnd> {
  const { ports, model, transcript } = parts;
  const { submissionId, attempt, journal, ids, clock, timers } = ports;
  const takesImages = model.model.input.includes("image");
  const guard = new AbortController();
  const signal = AbortSignal.any([ports.signal, guard.signal]);
  let refusal: unknown;
  let writer: StepWriter | undefined;
  let fault: AssistantMessage | undefined;

  const buildContext = (tools: DurableTool[]): AgentContext => {
    for (const record of journal.readTranscript(transcript.lastSeq)) transcript.apply(record);
    const toolsAdded = tools.map(({ name, description, parameters }) => ({ name, description, parameters }));
    const system: SystemMessage = { role: "system", content: parts.readSystemPrompt(), toolsAdded, timestamp: 0 };
    return { messages: [system, ...transcript.messages()], tools };
  };

  const endStep = (message: AssistantMessage): void => {
    const step = writer;
    writer = undefined;
    if (signal.aborted || message.stopReason === "aborted") {
      step?.cut();
    } else if (isProviderFault(message)) {
      fault = message;
      step?.discard(message.errorMessage ?? "The answer was empty.");
    } else {
      makeCallNamesSafe(message);
      makeCallIdsUnique(message, (id) => transcript.hasCall(id) || journal.hasToolCall(id), ids);
      step?.complete(message, parts.awaitsFinish());
      if (ports.providerRetries > 0) ports.clearProviderRetries();
    }
  };

  const emit = (event: AgentEvent): void => {
    if (event.type === "message_start" && event.message.role === "assistant") {
      const turnId = ids.next("turn");
      writer = new StepWriter({
        submissionId,
        turnId,
        journal,
        clock,
        timers,
        onRefused(error) {
          refusal = error;
          guard.abort();
        },
      });
    } else if (event.type === "message_update") {
      const update = event.assistantMessageEvent;
      if (update.type === "text_delta") writer?.add("text", update.delta);
      else if (update.type === "thinking_delta") writer?.add("reasoning", update.delta);
    } else if (event.type === "message_end" && event.message.role === "assistant") {
      endStep(event.message);
    } else if (event.type === "tool_execution_start") {
      const { toolCallId, toolName } = event;
      journal.append([{ type: "tool_started", submissionId, toolCallId, toolName, attempt }]);
    } else if (event.type === "tool_execution_end") {
      journal.append([toolResultRecord(submissionId, event)]);
    }
  };

  const config: AgentLoopConfig = {
    model: model.model,
    convertToLlm: (messages) => toProviderMessages(messages, takesImages),
    async prepareRequest() {
      return { context: buildContext(await parts.prepareRequest()) };
    },
    getFollowUpMessages: async () => {
      if (fault || signal.aborted || (await parts.reachEnd()) === "settled") return [];
      // The loop only needs to go on; what it goes on with is read from the records.
      return [{ role: "user", content: "", timestamp: 0 }];
    },
    // After an abort nothing is asked of the provider any more.
    finishTurn: () => (fault || signal.aborted ? { action: "end" } : undefined),
    toolExecution: "parallel",
    identity: { attribution: null },
    maxRetries: 0,
    sessionId: ports.sessionId,
    ...(parts.thinkingLevel !== "off" && { reasoning: parts.thinkingLevel }),
  };
  // The loop asks for the context of each request, the first included; it only wants to be given one to start from.
  const start: AgentContext = {
    messages: [{ role: "system", content: parts.readSystemPrompt(), timestamp: 0 }],
    tools: [],
  };
  const stream = failWhenSilent(model.stream, PROVIDER_IDLE_TIMEOUT_MS, timers);
  await runAgentLoopContinue(start, config, emit, signal, stream);
  if (refusal !== undefined) throw refusal;
  if (ports.signal.aborted) return { kind: "cut" };
  if (fault && takesImages && isImageRefusal(fault, transcript.messages())) {
    // Once for each image at most: those before the record are shown no more.
    journal.append([{ type: "images_omitted", submissionId }]);
    ports.report("images_omitted", { submissionId });
    return runLoop(parts);
  }
  return fault ? { kind: "fault", message: fault } : { kind: "settled" };
}
