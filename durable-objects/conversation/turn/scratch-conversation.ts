/**
 * The scratch conversation of one harness: prompts in a thread, with the agent's prompt and tools, and structured results.
 *
 * Owns the images it was given; they live as long as the invocation, which begins afresh after a crash.
 *
 * Source: contract RUNTIME 4 ("Harness").
 */
import type { AssistantMessage } from "@earendil-works/pi-ai";
import type { RenderedAgent } from "../../agent/agent.ts";
import type { PromptImage, PromptModel, PromptUsage } from "../../agent/harness.ts";
import type { HarnessSource } from "../../agent/harness-source.ts";
import type { ParsedPrompt } from "../../agent/prompt-options.ts";
import { inToldOrder, surfaceOf } from "../../prompt/surface.ts";
import { BerthError } from "../../protocol/errors.ts";
import { MAX_PARALLEL_TOOLS, MAX_RESULT_REMINDERS } from "../../protocol/limits.ts";
import type { AttachmentRef } from "../../protocol/submission.ts";
import { noUsage } from "../../protocol/usage.ts";
import type { DurableTool } from "../../tools/define-tool.ts";
import { createResultTools, type ResultTools } from "../../tools/index.ts";
import { createCallNotes } from "./call-notes.ts";
import type { HarnessEnvironment } from "./harness-environment.ts";
import type { AttemptPorts } from "./ports.ts";
import { openThread } from "./thread.ts";
import { assembleTools, createGate, equipTool, guardTools, throwIfNamedTwice } from "./tool-bench.ts";

export interface ScratchConversation {
  /** The ports of its thread. */
  ports: AttemptPorts;
  /** One at a time; a later prompt sees what earlier ones established. */
  prompt(asked: ParsedPrompt, signal: AbortSignal): Promise<PromptAnswer>;
  /** Summarises what was said so far; does nothing where that is little. */
  compact(signal: AbortSignal): Promise<void>;
}

/** `data` where a result was asked for, else `text`. */
export type PromptAnswer = { usage: PromptUsage; model: PromptModel } & ({ text: string } | { data: unknown });

const REMINDER = "Call finish with the result, or give_up with the reason why there is none.";

/** @param harnesses for tools that are called in this conversation. */
export function openScratchConversation(
  environment: HarnessEnvironment,
  name: string,
  harnesses: HarnessSource,
): ScratchConversation {
  const { ports: attempt } = environment;
  const images = new Map<string, string>();
  const thread = openThread(attempt, name, (id) => images.get(id) ?? attempt.readAttachment(id));
  // Its own gate: the call that opened the harness holds a place in its caller's for as long as this lasts.
  const enter = createGate(MAX_PARALLEL_TOOLS);
  const shared = { locks: attempt.locks, notes: createCallNotes(thread.ports), harnesses };

  function keepImage({ data, mimeType }: PromptImage): AttachmentRef {
    const id = `att_image_${name}_${images.size}`;
    images.set(id, data);
    return { type: "image", id, mimeType, size: Buffer.byteLength(data, "base64") };
  }

  async function assemble(
    asked: Pick<ParsedPrompt, "tools">,
    results: ResultTools | undefined,
  ): Promise<DurableTool[]> {
    const rendered = attempt.render();
    const attached = rendered.sandbox && environment.readAttached();
    const choice = attached?.choice;
    const sandbox = choice && (await thread.ports.openSandbox(choice.factory, choice.cwd));
    const equipment = { ...shared, workspaceSkills: environment.readWorkspaceSkills() };
    const agentTools = assembleTools(rendered, sandbox, equipment);
    const more = asked.tools.map((tool) => equipTool(tool, equipment));
    const tools = [...inOrderOfRoot(rendered, agentTools), ...more, ...(results?.tools ?? [])];
    throwIfNamedTwice(tools);
    return guardTools(tools, enter);
  }

  /** The array begins as the root's does, byte for byte, for the provider's cache. */
  function inOrderOfRoot(rendered: RenderedAgent, tools: DurableTool[]): DurableTool[] {
    const told = attempt.environment.readTold();
    const now = surfaceOf({ rendered, tools, sandbox: undefined, skills: [], agents: [] });
    return told ? inToldOrder(tools, now, told) : tools;
  }

  async function prompt(asked: ParsedPrompt, signal: AbortSignal): Promise<PromptAnswer> {
    const systemPrompt = readSystemPrompt();
    const model = asked.model === undefined ? environment.model : attempt.resolveModel(asked.model);
    const results = asked.result && createResultTools(asked.result);
    const assembleThese = () => assemble(asked, results);
    // A list that cannot be put together is told before anything of the prompt is recorded.
    await assembleThese();
    thread.say(asked.text, asked.images.map(keepImage));
    let reminders = 0;
    const steps = await thread.run({
      systemPrompt,
      model,
      compaction: environment.compaction,
      thinkingLevel: asked.thinkingLevel ?? environment.thinkingLevel,
      signal,
      prepareRequest: assembleThese,
      askFurther: () =>
        results && !results.readOutcome() && reminders++ < MAX_RESULT_REMINDERS ? REMINDER : undefined,
    });
    const { provider, id } = model.model;
    const facts = { usage: sumSteps(steps), model: { provider, id } };
    return results ? { data: readData(results), ...facts } : { text: lastText(steps), ...facts };
  }

  async function compact(signal: AbortSignal): Promise<void> {
    const { model, compaction } = environment;
    const tools = await assemble({ tools: [] }, undefined);
    await thread.compact({ model, compaction, signal }, { systemPrompt: readSystemPrompt(), tools });
  }

  function readSystemPrompt(): string {
    const systemPrompt = attempt.prompt.read();
    if (systemPrompt === undefined) throw new Error("A harness asks the model before the prompt was composed.");
    return systemPrompt;
  }

  return { ports: thread.ports, prompt, compact };
}

function readData(results: ResultTools): unknown {
  const outcome = results.readOutcome();
  if (outcome?.kind === "data") return outcome.data;
  if (outcome) {
    const { reason } = outcome;
    throw new BerthError("result_unavailable", `The model gave up: ${reason}`, { meta: { reason } });
  }
  throw new BerthError("result_unavailable", "The model ended without a result, although it was asked for it again.");
}

function lastText(steps: readonly AssistantMessage[]): string {
  const parts = steps.at(-1)?.content ?? [];
  return parts.map((part) => (part.type === "text" ? part.text : "")).join("");
}

function sumSteps(steps: readonly AssistantMessage[]): PromptUsage {
  const { input, output, cacheRead, cacheWrite, totalTokens, cost } = noUsage();
  const sum: PromptUsage = { input, output, cacheRead, cacheWrite, totalTokens, cost };
  for (const { usage } of steps) {
    sum.input += usage.input;
    sum.output += usage.output;
    sum.cacheRead += usage.cacheRead;
    sum.cacheWrite += usage.cacheWrite;
    sum.totalTokens += usage.totalTokens;
    for (const part of ["input", "output", "cacheRead", "cacheWrite", "total"] as const) {
      sum.cost[part] += usage.cost[part];
    }
  }
  return sum;
}
