/**
 * A thread: a conversation beside the root's, in the same journal, under the same attempt, run by the same loop. Nothing
 * joins it and nobody settles it: whoever opened it says what goes in and when it is over.
 *
 * A transient provider fault is waited out in place, since the attempt above must not end for it. What an abort cuts is
 * closed here where the attempt still may write, else by the settlement (`submission-lifecycle.ts`).
 *
 * Source: contract RUNTIME 4 (harness), 7, 9.
 */
import type { AssistantMessage } from "@earendil-works/pi-ai";
import { abortError } from "../../../containers/abort-error.ts";
import type { CompactionChoice } from "../../agent/agent.ts";
import type { ThinkingLevel } from "../../agent/thinking-level.ts";
import type { ResolvedModel } from "../../models/model.ts";
import { classifyProviderFault } from "../../models/provider-fault.ts";
import { BerthError } from "../../protocol/errors.ts";
import { isRecordOf } from "../../protocol/records.ts";
import type { AttachmentRef } from "../../protocol/submission.ts";
import type { DurableTool } from "../../tools/define-tool.ts";
import { openWorkRecords } from "../recovery/closing-records.ts";
import { standingOf } from "../recovery/standing.ts";
import { Compactor, type FixedPart } from "./compaction/compactor.ts";
import { runLoop } from "./loop.ts";
import { pause } from "./pause.ts";
import type { AttemptPorts } from "./ports.ts";
import { resolveProviderFault } from "./provider-retry.ts";
import { Transcript } from "./transcript.ts";

/** Who is asked in a thread, and how its transcript is kept inside the model's window. */
export interface ThreadModel {
  model: ResolvedModel;
  compaction: CompactionChoice | undefined;
  /** Fires with the attempt's own. */
  signal: AbortSignal;
}

export interface ThreadRun extends ThreadModel {
  systemPrompt: string;
  thinkingLevel: ThinkingLevel;
  /** The tools as they are now; asked for before each request. */
  prepareRequest(): Promise<DurableTool[]>;
  /** Where the model would stop: what it is asked besides, or nothing when the run is over. */
  askFurther(): string | undefined;
}

export interface Thread {
  /** The attempt's ports with what is the thread's own in place. */
  ports: AttemptPorts;
  /** A user's message to the thread. */
  say(text: string, attachments?: AttachmentRef[]): void;
  /** Runs the model until it would stop. Gives its completed steps, in order; rejects when cut or refused for good. */
  run(run: ThreadRun): Promise<AssistantMessage[]>;
  /** Summarises what can be summarised. False when there is nothing; rejects when it fails. */
  compact(asked: ThreadModel, fixed: FixedPart): Promise<boolean>;
}

/** @param readAttachment bytes in base64 of what `say` names. */
export function openThread(
  attempt: AttemptPorts,
  name: string,
  readAttachment: (id: string) => string | undefined = attempt.readAttachment,
): Thread {
  const ports: AttemptPorts = { ...attempt, ...attempt.openThread(name), readAttachment };
  const { submissionId, journal, timers } = ports;
  const transcript = new Transcript(readAttachment);

  /** What is being answered: it stands verbatim, whatever is summarised. */
  let runningSeqs: number[] = [];

  function say(text: string, attachments: AttachmentRef[] = []): void {
    const message = { kind: "user", body: text, ...(attachments.length > 0 && { attachments }) } as const;
    const records = journal.append([{ type: "input", submissionId, message }]);
    runningSeqs.push(...records.map(({ seq }) => seq));
  }

  function createCompactor({ model, compaction: choice, signal }: ThreadModel): Compactor {
    return new Compactor({
      ...{ ports: { ...ports, signal }, transcript, model, choice },
      ...(choice && choice.model !== undefined && { summaryModel: ports.resolveModel(choice.model) }),
      readRunningSeqs: () => runningSeqs,
      async store(record) {
        journal.append([record]);
      },
    });
  }

  function closeOpenWork(): void {
    journal.append(openWorkRecords(submissionId, standingOf(journal.readSubmission()), "aborted"));
  }

  async function run({
    askFurther,
    systemPrompt,
    compaction,
    prepareRequest,
    ...parts
  }: ThreadRun): Promise<AssistantMessage[]> {
    const { model, signal } = parts;
    const compactor = createCompactor({ model, compaction, signal });
    let tools: DurableTool[] = [];
    let isRecovered = false;
    const beforeSeq = journal.readSubmission().at(-1)?.seq ?? 0;
    let retries = 0;
    const own: AttemptPorts = {
      ...ports,
      signal,
      get providerRetries() {
        return retries;
      },
      clearProviderRetries() {
        retries = 0;
      },
    };
    const reachEnd = async (): Promise<"joined" | "settled"> => {
      const further = askFurther();
      if (further === undefined) return "settled";
      say(further);
      return "joined";
    };
    for (;;) {
      const end = await runLoop({
        ...parts,
        readSystemPrompt: () => systemPrompt,
        ports: own,
        transcript,
        async prepareRequest() {
          tools = await prepareRequest();
          await compactor.beforeRequest({ systemPrompt, tools });
          return tools;
        },
        reachEnd,
        awaitsFinish: () => false,
      });
      if (end.kind === "settled") break;
      if (end.kind === "fault" && !isRecovered && classifyProviderFault(end.message).kind === "overflow") {
        isRecovered = true;
        if (await compactor.recover({ systemPrompt, tools })) continue;
      }
      if (end.kind === "cut") {
        closeOpenWork();
        throw abortError(signal);
      }
      const next = resolveProviderFault(end.message, retries, ports.random());
      if (next.kind === "failed") {
        const { type, message, ...extra } = next.fault;
        throw new BerthError(type, message, extra);
      }
      retries++;
      await pause(timers, next.afterMs, signal);
    }
    runningSeqs = [];
    return journal
      .readSubmission()
      .filter((record) => record.seq > beforeSeq)
      .flatMap((record) => (isRecordOf(record, "assistant") ? [record.body.message] : []));
  }

  return { ports, say, run, compact: (asked, fixed) => createCompactor(asked).compact(fixed) };
}
