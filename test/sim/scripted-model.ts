/**
 * A model that reads its plan out of the transcript, so that it answers the same after any crash, and that checks every
 * request as a fussy provider would.
 */
import type { StreamFn } from "@earendil-works/pi-agent-core";
import type { AssistantMessage, Message, TranscriptContext } from "@earendil-works/pi-ai";
import { AssistantMessageEventStream } from "@earendil-works/pi-ai/utils/event-stream";
import type { ResolvedModel } from "../../durable-objects/models/model.ts";
import { WORKSPACE_LOST } from "../../durable-objects/prompt/environment-change.ts";
import type { World } from "./world.ts";

export interface PlannedCall {
  /**
   * A command, a file to write, a durable tool, a tool with a scratch conversation (durable: `askAgain`), or one that
   * writes state.
   */
  kind: "ledger" | "file" | "steps" | "ask" | "askAgain" | "tally";
  line: string;
}

export interface Plan {
  name: string;
  /** Calls, a list a turn. */
  turns: PlannedCall[][];
}

function argumentsOf({ kind, line }: PlannedCall): { name: string; arguments: Record<string, string> } {
  if (kind === "file") return { name: "write", arguments: { path: line, content: `content of ${line}` } };
  return { name: kind === "ledger" ? "bash" : kind, arguments: { command: line } };
}

const USAGE = {
  input: 10,
  output: 5,
  cacheRead: 0,
  cacheWrite: 0,
  totalTokens: 15,
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
};

function textOf(message: Message): string {
  if (typeof message.content === "string") return message.content;
  return message.content.map((part) => (part.type === "text" ? part.text : "")).join("");
}

/** Sentences about what a provider would refuse. */
export function findFaults(messages: readonly Message[]): string[] {
  const faults: string[] = [];
  const seen = new Set<string>();
  messages.forEach((message, i) => {
    if (message.role === "system" && i > 0) faults.push(`system message at ${i}`);
    if (message.role !== "assistant") return;
    const calls = message.content.filter((part) => part.type === "toolCall").map((call) => call.id);
    if (calls.length === 0 && textOf(message).trim() === "") faults.push(`empty assistant message at ${i}`);
    for (const id of calls) {
      if (seen.has(id)) faults.push(`call id ${id} used twice`);
      seen.add(id);
    }
    const results = messages.slice(i + 1, i + 1 + calls.length).map((next) => {
      return next.role === "toolResult" ? next.toolCallId : next.role;
    });
    if (results.join() !== calls.join()) faults.push(`calls ${calls.join()} are followed by ${results.join()}`);
    if (messages[i + 1 + calls.length]?.role === "toolResult") faults.push(`a result too many after ${i}`);
  });
  if (messages.at(-1)?.role === "assistant") faults.push("the last message is the assistant's");
  return faults;
}

/** What the model keeps of a conversation that it summarises: all it needs to go on. */
interface Notes {
  plans: Plan[];
  /** Lines of the calls it has made. */
  issued: string[];
}

const NOTES = /^NOTES (.+)$/gm;

function readNotes(text: string): Notes[] {
  return [...text.matchAll(NOTES)].map(([, json = ""]) => JSON.parse(json) as Notes);
}

function mergeNotes(all: readonly Notes[]): Notes {
  const plans = new Map(all.flatMap((notes) => notes.plans).map((plan) => [plan.name, plan]));
  return { plans: [...plans.values()], issued: all.flatMap((notes) => notes.issued) };
}

/** Answers a request for a summary from the text it is given. */
function summarize(request: string, number: number): string {
  const plans = [...request.matchAll(/^\[User\]: (\{.*\})$/gm)].map(([, json = ""]) => JSON.parse(json) as Plan);
  const issued = [...request.matchAll(/\w+\((\{.*?\})\)/g)].map(([, json = ""]) => {
    const args = JSON.parse(json) as Record<string, string>;
    return String(args.command ?? args.path);
  });
  return `NOTES ${JSON.stringify({ ...mergeNotes([...readNotes(request), { plans, issued }]), number })}`;
}

function isSummaryRequest(messages: readonly Message[]): boolean {
  return messages.some((message) => textOf(message).startsWith("<conversation>"));
}

function notesOf(messages: readonly Message[]): Notes {
  const users = messages.filter((message) => message.role === "user").map(textOf);
  const said = users.filter((text) => text.startsWith("{")).map((text) => JSON.parse(text) as Plan);
  const summaries = users.filter((text) => text.startsWith("<compaction")).flatMap(readNotes);
  const issued = messages.flatMap((message) =>
    message.role === "assistant"
      ? message.content.flatMap((part) =>
          part.type === "toolCall" ? [String(part.arguments.command ?? part.arguments.path)] : [],
        )
      : [],
  );
  return mergeNotes([...summaries, { plans: said, issued }]);
}

/** @param number tells one summary from another of the same text: each begins requests of its own. */
function nextStep(messages: readonly Message[], number: number): { text: string } | { calls: PlannedCall[] } {
  if (isSummaryRequest(messages)) return { text: summarize(messages.map(textOf).join("\n"), number) };
  const notes = notesOf(messages);
  const { plans } = notes;
  const issued = new Set(notes.issued);
  const next = plans.flatMap((plan) => plan.turns).find((turn) => turn.some((call) => !issued.has(call.line)));
  return next ? { calls: next } : { text: `answer to ${plans.map((plan) => plan.name).join(" ")}` };
}

/**
 * Sentences about what the model was told of its agent: the last it heard is how things are, and nothing was told twice.
 *
 * @param version of the deployment that asks.
 */
function findMistold(messages: readonly Message[], version: number): string[] {
  const faults: string[] = [];
  const texts = messages.map(textOf);
  const versions = texts.flatMap((text) =>
    [...text.matchAll(/Do the plan\. \((\d+)\)/g)].map(([, told]) => Number(told)),
  );
  if (versions.at(-1) !== version) faults.push(`deploy ${version} asks a model that was last told ${versions.join()}`);
  if (versions.some((told, i) => told === versions[i - 1]))
    faults.push(`instructions were told twice: ${versions.join()}`);
  const first = messages[0];
  const given = first?.role === "system" ? (first.toolsAdded ?? []).map((tool) => tool.name) : [];
  const prompt = /## Available Tools\n\n((?:- .+\n?)+)/.exec(texts[0] ?? "")?.[1] ?? "";
  const rosters = [prompt.replaceAll(/^- /gm, "").trim().split("\n")];
  for (const text of texts.slice(1)) {
    const roster =
      /All available tools: (.+)/.exec(text)?.[1] ?? /## Available Tools\n\n((?:- .+\n?)+)/.exec(text)?.[1];
    if (roster !== undefined) rosters.push(roster.replaceAll(/^- /gm, "").trim().split(/, |\n/));
  }
  if (rosters.at(-1)?.join() !== given.join()) {
    faults.push(`the model is given ${given.join()}, and was last told ${rosters.at(-1)?.join()}`);
  }
  return faults;
}

export interface ModelLog {
  faults: string[];
  /** What was sent, by the first message of its conversation. */
  requests: Map<string, string[][]>;
}

/** Name of the plan that a tool hands to its scratch conversation. */
export const SCRATCH = "scratch";

function isScratch(messages: readonly Message[]): boolean {
  return messages.some((message) => message.role === "user" && textOf(message).startsWith(`{"name":"${SCRATCH}`));
}

/** Small enough that a few turns fill what the prompt and the tools leave of it. */
const SMALL_WINDOW_TOKENS = 1_800;

function countTokens(messages: readonly Message[]): number {
  const [first] = messages;
  const tools = first?.role === "system" ? JSON.stringify(first.toolsAdded ?? []) : "";
  const text = messages.map((message) => JSON.stringify(message.content)).join("");
  return Math.ceil((tools.length + text.length) / 4);
}

export interface ScriptedModelOptions {
  /** Of the deployment that asks; `undefined` for an instance that lost its place. */
  currentVersion(): number | undefined;
  /** The window is small and what is sent is counted, so that transcripts are summarised. */
  isSmall: boolean;
}

export function scriptedModel(world: World, log: ModelLog, options: ScriptedModelOptions): ResolvedModel {
  const { random } = world;
  const { currentVersion, isSmall } = options;
  const stream: StreamFn = (_model, context: TranscriptContext, streamOptions) => {
    const events = new AssistantMessageEventStream();
    const { messages } = context;
    log.faults.push(...findFaults(messages));
    const sent = messages.map((message) => JSON.stringify([message.role, message.content]));
    const conversation = sent[1] ?? "";
    log.requests.set(conversation, [...(log.requests.get(conversation) ?? []), sent]);
    void play(events, messages, streamOptions?.signal).catch(() => {});
    // A scratch conversation lives for one call; what became of agent and workspace is told to the root.
    if (isSummaryRequest(messages) || isScratch(messages)) return events;
    const isCompacted = messages.some((message) => textOf(message).startsWith("<compaction"));
    if (isCompacted) world.compactions++;
    const version = currentVersion();
    if (version !== undefined) log.faults.push(...findMistold(messages, version));
    const told = messages.filter((message) => textOf(message).includes(WORKSPACE_LOST)).length;
    // What was told of before a compaction is in the summary.
    if (told < world.workspace.lossesToTell && !isCompacted)
      log.faults.push(`${world.workspace.lossesToTell} workspaces were lost, the model knows of ${told}`);
    if (told > world.workspace.losses)
      log.faults.push(`${world.workspace.losses} workspaces were lost, the model was told of ${told}`);
    world.workspace.noteRequest();
    return events;
  };

  async function play(
    events: AssistantMessageEventStream,
    messages: readonly Message[],
    signal: AbortSignal | undefined,
  ): Promise<void> {
    const message: AssistantMessage = {
      role: "assistant",
      content: [],
      api: "sim",
      provider: "sim",
      model: "sim",
      usage: isSmall ? { ...USAGE, totalTokens: countTokens(messages) } : USAGE,
      stopReason: "pending",
      timestamp: world.now,
    };
    const wait = (ms: number): Promise<void> =>
      new Promise((resolve) => {
        signal?.addEventListener("abort", () => resolve(), { once: true });
        void world.sleep(ms).then(resolve);
      });
    const end = (stopReason: "stop" | "toolUse"): void => {
      message.stopReason = stopReason;
      events.push({ type: "done", reason: stopReason, message });
    };
    const fail = (stopReason: "error" | "aborted", text: string): void => {
      message.stopReason = stopReason;
      message.errorMessage = text;
      events.push({ type: "error", reason: stopReason, error: message });
    };
    await wait(random.below(800));
    // A provider that never answers and never hears: the deadline or an abort must end it.
    if (random.chance(0.01)) await new Promise(() => {});
    events.push({ type: "start", partial: message });
    const step = nextStep(messages, world.summaries++);
    if ("text" in step) {
      const part = { type: "text" as const, text: "" };
      message.content.push(part);
      events.push({ type: "text_start", contentIndex: 0, partial: message });
      for (const word of step.text.split(/(?<= )/)) {
        if (signal?.aborted) return fail("aborted", "aborted");
        part.text += word;
        events.push({ type: "text_delta", contentIndex: 0, delta: word, partial: message });
        await wait(random.below(400));
      }
    }
    if (signal?.aborted) return fail("aborted", "aborted");
    if (random.chance(0.05)) return fail("error", "connection reset");
    if (random.chance(0.02)) {
      message.content = [];
      return end("stop");
    }
    if ("calls" in step) {
      for (const call of step.calls) {
        // Ids repeat on purpose: the engine makes them unique.
        const id = random.chance(0.5) ? "call_1" : `call_${call.line}`;
        message.content.push({ type: "toolCall", id, ...argumentsOf(call) });
      }
      return end("toolUse");
    }
    end("stop");
  }

  const model = {
    id: "sim",
    name: "sim",
    api: "sim",
    provider: "sim",
    baseUrl: "",
    reasoning: false,
    input: ["text"],
    cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
    contextWindow: isSmall ? SMALL_WINDOW_TOKENS : 1_000_000,
    maxTokens: 10_000,
  } as unknown as ResolvedModel["model"];
  return { model, stream };
}
