/**
 * One attempt at a submission, from its records to an end: close what a crash left open, open the sandbox, freeze the
 * prompt at first contact, run the loop.
 *
 * Source: contract RUNTIME 2.3, 2.5, 5, 9.
 */
import type { Sandbox } from "../../../containers/sandbox.ts";
import type { RenderedAgent } from "../../agent/agent.ts";
import { classifyProviderFault } from "../../models/provider-fault.ts";
import { composePrompt } from "../../prompt/compose.ts";
import { discoverWorkspace } from "../../prompt/discovery.ts";
import {
  MAX_PARALLEL_TOOLS,
  PROVIDER_RETRIES,
  PROVIDER_RETRY_BASE_MS,
  PROVIDER_RETRY_MAX_MS,
} from "../../protocol/limits.ts";
import type { DurableTool } from "../../tools/define-tool.ts";
import { bindWrites } from "./bind-writes.ts";
import { createCallNotes } from "./call-notes.ts";
import { runLoop } from "./loop.ts";
import type { AttemptEnd, AttemptPorts } from "./ports.ts";
import { createResponseHooks } from "./response-hooks.ts";
import { closePartialStep, resumeOpenCalls } from "./resume-calls.ts";
import { assembleTools, createGate, guardTools } from "./tool-bench.ts";
import { Transcript } from "./transcript.ts";
import { noticeLoss } from "./workspace-watch.ts";

export async function runAttempt(ports: AttemptPorts): Promise<AttemptEnd> {
  closePartialStep(ports);
  const first = ports.render();
  // A missing key is told at once, before a sandbox is opened for nothing.
  const model = ports.resolveModel(first.model.spec);
  const sandbox = first.sandbox && (await ports.openSandbox(first.sandbox.factory, first.sandbox.cwd));
  const enter = createGate(MAX_PARALLEL_TOOLS);
  const equipment = { locks: ports.locks, notes: createCallNotes(ports) };
  const toolsOf = (rendered: RenderedAgent): DurableTool[] =>
    bindWrites(guardTools(assembleTools(rendered, rendered.sandbox && sandbox, equipment), enter), ports.seams);

  const hooks = createResponseHooks(ports);
  const isAtEnd = await resumeOpenCalls(ports, toolsOf(first), sandbox);
  if (ports.signal.aborted) return { kind: "cut" };
  if (isAtEnd && (await hooks.reachEnd()) === "settled") return { kind: "settled" };

  const systemPrompt = ports.prompt.read() ?? (await freezePrompt(ports, first, sandbox, toolsOf(first)));
  const end = await runLoop({
    ports,
    model,
    thinkingLevel: first.model.thinkingLevel,
    systemPrompt,
    transcript: new Transcript(ports.readAttachment),
    readTools: () => toolsOf(ports.render()),
    async beforeRequest() {
      await hooks.beforeRequest();
      await noticeLoss(ports, sandbox, namesOf(toolsOf(ports.render())));
    },
    reachEnd: () => hooks.reachEnd(),
    awaitsFinish: () => hooks.awaitsFinish,
  });
  if (end.kind === "cut") return { kind: "cut" };
  if (end.kind === "settled") return { kind: "settled" };

  const fault = classifyProviderFault(end.message);
  if (fault.kind === "transient" && ports.providerRetries < PROVIDER_RETRIES) {
    return { kind: "retry", afterMs: retryDelayMs(ports.providerRetries, fault.retryAfterMs, ports.random()) };
  }
  const meta = fault.status === undefined ? {} : { meta: { status: fault.status } };
  const type = fault.kind === "overflow" ? "context_overflow" : "provider_failed";
  return { kind: "failed", fault: { type, message: fault.message, ...meta } };
}

function namesOf(tools: readonly DurableTool[]): string[] {
  return tools.map((tool) => tool.name);
}

async function freezePrompt(
  ports: AttemptPorts,
  rendered: RenderedAgent,
  sandbox: Sandbox | undefined,
  tools: readonly DurableTool[],
): Promise<string> {
  const workspace = sandbox && (await discoverWorkspace(sandbox));
  const text = composePrompt({
    instructions: rendered.instructions,
    tools: namesOf(tools),
    agents: [],
    now: ports.clock.now(),
    ...(workspace && { workspace }),
  });
  ports.prompt.freeze(text);
  return text;
}

/** Doubles from the base, with jitter; what the provider asks for is kept up to the longest wait. */
function retryDelayMs(retriesBefore: number, retryAfterMs: number | undefined, random: number): number {
  if (retryAfterMs !== undefined) return Math.min(retryAfterMs, PROVIDER_RETRY_MAX_MS);
  const base = PROVIDER_RETRY_BASE_MS * 2 ** retriesBefore;
  return Math.round(Math.min(base * (0.8 + 0.4 * random), PROVIDER_RETRY_MAX_MS));
}
