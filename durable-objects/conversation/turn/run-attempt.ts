/**
 * One attempt at a submission, from its records to an end: close what a crash left open, open the sandbox, freeze the
 * prompt at first contact, run the loop.
 *
 * Source: contract RUNTIME 2.3, 2.5, 5, 9.
 */
import type { RenderedAgent } from "../../agent/agent.ts";
import { classifyProviderFault } from "../../models/provider-fault.ts";
import { composePrompt } from "../../prompt/compose.ts";
import { discoverWorkspace } from "../../prompt/discovery.ts";
import type { Workspace } from "../../prompt/section.ts";
import {
  MAX_PARALLEL_TOOLS,
  PROVIDER_RETRIES,
  PROVIDER_RETRY_BASE_MS,
  PROVIDER_RETRY_MAX_MS,
} from "../../protocol/limits.ts";
import { findShadowedSkills, liveSkills } from "../../skills/live-skills.ts";
import type { DurableTool } from "../../tools/define-tool.ts";
import { createCallNotes } from "./call-notes.ts";
import { runLoop } from "./loop.ts";
import type { AttemptEnd, AttemptPorts } from "./ports.ts";
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
  let workspaceSkills = ports.prompt.readWorkspaceSkills();
  const toolsOf = (rendered: RenderedAgent): DurableTool[] =>
    guardTools(assembleTools(rendered, rendered.sandbox && sandbox, { ...equipment, workspaceSkills }), enter);

  const isComplete = await resumeOpenCalls(ports, toolsOf(first), sandbox);
  if (ports.signal.aborted) return { kind: "cut" };
  if (isComplete && ports.joinOrComplete() === "settled") return { kind: "settled" };

  let systemPrompt = ports.prompt.read();
  if (systemPrompt === undefined) {
    const workspace = sandbox && (await discoverWorkspace(sandbox));
    workspaceSkills = workspace?.skills ?? [];
    systemPrompt = freezePrompt(ports, first, workspace, toolsOf(first));
  }
  const end = await runLoop({
    ports,
    model,
    thinkingLevel: first.model.thinkingLevel,
    systemPrompt,
    transcript: new Transcript(ports.readAttachment),
    readTools: () => toolsOf(ports.render()),
    beforeRequest: () => noticeLoss(ports, sandbox, namesOf(toolsOf(ports.render()))),
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

function freezePrompt(
  ports: AttemptPorts,
  rendered: RenderedAgent,
  workspace: Workspace | undefined,
  tools: readonly DurableTool[],
): string {
  const discovered = workspace?.skills ?? [];
  reportSkills(ports, rendered, workspace);
  const text = composePrompt({
    instructions: rendered.instructions,
    tools: namesOf(tools),
    skills: liveSkills(rendered.skills, discovered),
    agents: [],
    now: ports.clock.now(),
    ...(workspace && { workspace }),
  });
  ports.prompt.freeze(text, discovered);
  return text;
}

/** What of a workspace's skills does not reach the model, for who wonders where one went. */
function reportSkills(ports: AttemptPorts, rendered: RenderedAgent, workspace: Workspace | undefined): void {
  const { submissionId } = ports;
  for (const { path, reason } of workspace?.skippedSkills ?? []) {
    ports.report("skill_skipped", { submissionId, path, reason });
  }
  for (const { name, directory } of findShadowedSkills(rendered.skills, workspace?.skills ?? [])) {
    ports.report("skill_shadowed", { submissionId, name, directory });
  }
}

/** Doubles from the base, with jitter; what the provider asks for is kept up to the longest wait. */
function retryDelayMs(retriesBefore: number, retryAfterMs: number | undefined, random: number): number {
  if (retryAfterMs !== undefined) return Math.min(retryAfterMs, PROVIDER_RETRY_MAX_MS);
  const base = PROVIDER_RETRY_BASE_MS * 2 ** retriesBefore;
  return Math.round(Math.min(base * (0.8 + 0.4 * random), PROVIDER_RETRY_MAX_MS));
}
