/**
 * One attempt at a submission, from its records to an end: close what a crash left open, open the sandbox, freeze the
 * prompt at first contact, run the loop.
 *
 * Source: contract RUNTIME 2.3, 2.5, 5, 9.
 */
import type { Sandbox } from "../../../containers/sandbox.ts";
import type { RenderedAgent } from "../../agent/agent.ts";
import { composePrompt } from "../../prompt/compose.ts";
import { discoverWorkspace } from "../../prompt/discovery.ts";
import { MAX_PARALLEL_TOOLS } from "../../protocol/limits.ts";
import type { DurableTool } from "../../tools/define-tool.ts";
import { createCallNotes } from "./call-notes.ts";
import { createHarnessSource } from "./harness.ts";
import { runLoop } from "./loop.ts";
import type { AttemptEnd, AttemptPorts } from "./ports.ts";
import { resolveProviderFault } from "./provider-retry.ts";
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
  const harnesses = createHarnessSource({
    ...{ ports, depth: 0, model, thinkingLevel: first.model.thinkingLevel },
    readSandbox: () => (ports.render().sandbox ? sandbox : undefined),
  });
  const equipment = { locks: ports.locks, notes: createCallNotes(ports), harnesses };
  const toolsOf = (rendered: RenderedAgent): DurableTool[] =>
    guardTools(assembleTools(rendered, rendered.sandbox && sandbox, equipment), enter);

  const isComplete = await resumeOpenCalls(ports, toolsOf(first), sandbox);
  if (ports.signal.aborted) return { kind: "cut" };
  if (isComplete && ports.joinOrComplete() === "settled") return { kind: "settled" };

  const systemPrompt = ports.prompt.read() ?? (await freezePrompt(ports, first, sandbox, toolsOf(first)));
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

  return resolveProviderFault(end.message, ports.providerRetries, ports.random());
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
