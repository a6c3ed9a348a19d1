/**
 * One attempt at a submission, from its records to an end: close what a crash left open, open the sandbox, freeze the
 * prompt at first contact, run the loop.
 *
 * Source: contract RUNTIME 2.3, 2.5, 5, 9.
 */
import { classifyProviderFault } from "../../models/provider-fault.ts";
import { Compactor } from "./compaction/compactor.ts";
import { Environment } from "./environment.ts";
import { createHarnessSource } from "./harness.ts";
import { type LoopParts, runLoop } from "./loop.ts";
import type { AttemptEnd, AttemptPorts } from "./ports.ts";
import { resolveProviderFault } from "./provider-retry.ts";
import { createResponseHooks } from "./response-hooks.ts";
import { closePartialStep, resumeOpenCalls } from "./resume-calls.ts";
import { Transcript } from "./transcript.ts";

export async function runAttempt(ports: AttemptPorts): Promise<AttemptEnd> {
  closePartialStep(ports);
  const first = ports.render();
  // A missing key is told at once, before a sandbox is opened for nothing.
  const model = ports.resolveModel(first.model.spec);
  const harnesses = createHarnessSource({
    ...{ ports, depth: 0, model, thinkingLevel: first.model.thinkingLevel, compaction: first.model.compaction },
    readAttached: () => environment.attached,
    readWorkspaceSkills: () => environment.workspaceSkills,
  });
  const environment = new Environment(ports, harnesses);
  const tools = await environment.mount(first);
  const hooks = createResponseHooks(ports, harnesses);

  const isAtEnd = await resumeOpenCalls(ports, tools, environment.sandbox);
  if (ports.signal.aborted) return { kind: "cut" };
  if (isAtEnd && (await hooks.reachEnd()) === "settled") return { kind: "settled" };

  let rendered = first;
  let systemPrompt = environment.freezePrompt(first, tools);
  const transcript = new Transcript(ports.readAttachment);
  const { compaction } = first.model;
  const compactor = new Compactor({
    ...{ ports, transcript, model, choice: compaction },
    ...(compaction && compaction.model !== undefined && { summaryModel: ports.resolveModel(compaction.model) }),
    readRunningSeqs: () => ports.response.deliveries().map(({ seq }) => seq),
    async store(record) {
      systemPrompt = await environment.rebasePrompt(rendered, record);
    },
  });
  const loop: LoopParts = {
    ports,
    model,
    thinkingLevel: first.model.thinkingLevel,
    readSystemPrompt: () => systemPrompt,
    transcript,
    async prepareRequest() {
      await hooks.beforeRequest();
      rendered = ports.render();
      await compactor.beforeRequest({ systemPrompt, tools: await environment.mount(rendered) });
      return environment.follow(rendered);
    },
    reachEnd: () => hooks.reachEnd(),
    awaitsFinish: () => hooks.isFinishDeclared(rendered),
  };
  let end = await runLoop(loop);
  // Once: a request that is too large after it cannot be made smaller.
  if (end.kind === "fault" && classifyProviderFault(end.message).kind === "overflow") {
    const isSmaller = await compactor.recover({ systemPrompt, tools: await environment.mount(rendered) });
    if (isSmaller) end = await runLoop(loop);
  }
  if (end.kind === "cut") return { kind: "cut" };
  if (end.kind === "settled") return { kind: "settled" };

  return resolveProviderFault(end.message, ports.providerRetries, ports.random());
}
