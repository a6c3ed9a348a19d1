/**
 * The seams of a response at which an agent's event hooks run: its start, the start of work on each message, each point
 * where it would stop, and its end.
 *
 * What has run is told from records alone, so that a resumed attempt goes on where the one before was cut: a seam is
 * recorded in one transaction with all its callbacks wrote, or it runs again as a whole. An agent without hooks leaves no
 * record.
 *
 * Source: contract RUNTIME 2.4, 2.5, 2.7, 4.
 */
import type { RenderedAgent } from "../../agent/agent.ts";
import {
  type AgentStartCallback,
  type AgentStartContext,
  noEventHooks,
  type ResponseSummary,
} from "../../agent/event-hooks.ts";
import type { HarnessSource } from "../../agent/harness-source.ts";
import { BerthError } from "../../protocol/errors.ts";
import { MAX_FINISH_CONTINUATIONS } from "../../protocol/limits.ts";
import { isRecordOf, type RecordBody, type StoredRecord } from "../../protocol/records.ts";
import type { AttemptPorts, Delivery } from "./ports.ts";
import { collectMetadata, metadataOf } from "./response-metadata.ts";
import { type EndedCallback, runCallback } from "./run-callback.ts";

export interface ResponseHooks {
  /** What waits joins; then everything runs that must have run before the model is asked. */
  beforeRequest(): Promise<void>;
  /** Where the response would stop: it goes on, or it is settled. */
  reachEnd(): Promise<"joined" | "settled">;
  /** Whether a step made under this render must be followed by a finish cycle. */
  isFinishDeclared(rendered: RenderedAgent): boolean;
}

/** @param harnesses for the callbacks that ask for one. */
export function createResponseHooks(ports: AttemptPorts, harnesses: HarnessSource): ResponseHooks {
  const { agent, submissionId, journal, response, seams } = ports;
  /** Messages this attempt need not look at again. */
  const started = new Set<string>();
  let isResponseStarted = false;

  const readHooks = (delivery?: Delivery) => ports.render(delivery).eventHooks ?? noEventHooks();

  function startResponse(): void {
    const { responseStart: callbacks } = readHooks();
    if (callbacks.length === 0) return;
    const records = journal.readSubmission();
    if (records.some((record) => isRecordOf(record, "assistant") || isRecordOf(record, "metadata"))) return;
    const metadata = collectMetadata({
      ...{ agent, hook: "useResponseStart", callbacks, before: {} },
      createContext: (known, log) => ({ metadata: known, log }),
    });
    if (Object.keys(metadata).length === 0) return;
    response.append([{ type: "metadata", submissionId, seam: "response_start", metadata }]);
  }

  async function startMessage(delivery: Delivery): Promise<void> {
    const { agentStart: callbacks } = readHooks(delivery);
    if (callbacks.length === 0 || response.hasStartRun(delivery.submissionId)) return;
    if (isAnswered(journal.readSubmission(), delivery)) return;
    // They run side by side: when one fails, the others are told to end and can write no more.
    const group = new AbortController();
    const signal = AbortSignal.any([ports.signal, group.signal]);
    const kind = { hook: "useAgentStart", appendedBy: "agent_start", harnesses } as const;
    const run = (callback: AgentStartCallback, i: number) =>
      runCallback(ports, { ...kind, id: `start-${delivery.submissionId}-${i}` }, signal, callback);
    try {
      const ended = await Promise.all(callbacks.map(run));
      commit(ended, { type: "agent_start_run", submissionId: delivery.submissionId });
    } catch (error) {
      group.abort();
      throw error;
    }
  }

  /** The seam's marker, then the signals in declaration order, with all that was written. */
  function commit(ended: readonly EndedCallback[], marker: RecordBody): void {
    const signals = ended.flatMap(({ appended }) => appended);
    seams.commit(
      ended.map(({ seam }) => seam),
      [marker, ...signals],
    );
  }

  function summarize(records: readonly StoredRecord[]): ResponseSummary {
    const results = records.filter((record) => isRecordOf(record, "tool_result"));
    const toolCalls = results.map(({ body }) => ({ tool: body.toolName, isError: body.isError }));
    return { toolCalls, usage: response.readUsage() };
  }

  /** True when a callback sent the model on. */
  async function runFinishCycle(isAwaited: boolean): Promise<boolean> {
    const { agentFinish: callbacks, responseFinish } = readHooks();
    if (callbacks.length === 0 && responseFinish.length === 0 && !isAwaited) return false;
    const records = journal.readSubmission();
    const summary = summarize(records);
    const kind = { hook: "useAgentFinish", appendedBy: "agent_finish", harnesses } as const;
    const cycle = records.filter((record) => isRecordOf(record, "agent_finish_cycle")).length;
    const ended: EndedCallback[] = [];
    for (const [i, callback] of callbacks.entries()) {
      const id = `finish-${submissionId}-${cycle}-${i}`;
      const run = (context: AgentStartContext) => callback(Object.assign(context, { response: summary }));
      ended.push(await runCallback(ports, { ...kind, id }, ports.signal, run));
    }
    const continues = ended.some(({ appended }) => appended.length > 0);
    if (continues && countContinuations(records) >= MAX_FINISH_CONTINUATIONS) {
      throw new BerthError(
        "operation_failed",
        `Agent "${agent}": useAgentFinish() sent the response on more than ${MAX_FINISH_CONTINUATIONS} times.`,
      );
    }
    commit(ended, {
      ...{ type: "agent_finish_cycle", submissionId },
      ...(continues && { continues }),
      ...(responseFinish.length > 0 && { responseFinish: true as const }),
    });
    return continues;
  }

  /** Run in the transaction that settles the response. */
  function renderLastRecords(): RecordBody[] {
    const { responseFinish: callbacks } = readHooks();
    if (callbacks.length === 0) return [];
    const records = journal.readSubmission();
    const summary = summarize(records);
    const metadata = collectMetadata({
      ...{ agent, hook: "useResponseFinish", callbacks, before: metadataOf(records) },
      createContext: (known, log) => ({ metadata: known, log, response: summary }),
    });
    if (Object.keys(metadata).length === 0) return [];
    return [{ type: "metadata", submissionId, seam: "response_finish", metadata }];
  }

  return {
    isFinishDeclared({ eventHooks = noEventHooks() }) {
      return eventHooks.agentFinish.length > 0 || eventHooks.responseFinish.length > 0;
    },
    async beforeRequest() {
      if (!isResponseStarted) startResponse();
      isResponseStarted = true;
      for (;;) {
        ports.joinQueued();
        // A callback may have sent another message, which joins before the request too.
        const next = response.deliveries().find((delivery) => !started.has(delivery.submissionId));
        if (!next) break;
        await startMessage(next);
        started.add(next.submissionId);
      }
    },
    async reachEnd() {
      ports.joinQueued();
      const standing = response.readStanding();
      if (!standing.isAtEnd) return "joined";
      if (!standing.isFinishClosed && (await runFinishCycle(!standing.completed))) return "joined";
      return ports.joinOrComplete(renderLastRecords);
    },
  };
}

function isAnswered(records: readonly StoredRecord[], delivery: Delivery): boolean {
  return records.some(
    (record) => isRecordOf(record, "assistant") && !record.body.interrupted && record.seq > delivery.seq,
  );
}

function countContinuations(records: readonly StoredRecord[]): number {
  return records.filter((record) => isRecordOf(record, "agent_finish_cycle") && record.body.continues).length;
}
