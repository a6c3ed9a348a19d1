/**
 * One attempt at a submission, from its records to an end: close what a crash left open, open the sandbox, freeze the
 * prompt at first contact, run the loop.
 *
 * Source: contract RUNTIME 2.3, 2.5, 5, 9.
 */
import { classifyProviderFault } from "../../models/provider-fault.ts";
import { PROVIDER_RETRIES, PROVIDER_RETRY_BASE_MS, PROVIDER_RETRY_MAX_MS } from "../../protocol/limits.ts";
import { Environment } from "./environment.ts";
import { runLoop } from "./loop.ts";
import type { AttemptEnd, AttemptPorts } from "./ports.ts";
import { createResponseHooks } from "./response-hooks.ts";
import { closePartialStep, resumeOpenCalls } from "./resume-calls.ts";
import { Transcript } from "./transcript.ts";

export async function runAttempt(ports: AttemptPorts): Promise<AttemptEnd> {
  closePartialStep(ports);
  const first = ports.render();
  // A missing key is told at once, before a sandbox is opened for nothing.
  const model = ports.resolveModel(first.model.spec);
  const environment = new Environment(ports);
  const tools = await environment.mount(first);

  const hooks = createResponseHooks(ports);
  const isAtEnd = await resumeOpenCalls(ports, tools, environment.sandbox);
  if (ports.signal.aborted) return { kind: "cut" };
  if (isAtEnd && (await hooks.reachEnd()) === "settled") return { kind: "settled" };

  let rendered = first;
  const end = await runLoop({
    ports,
    model,
    thinkingLevel: first.model.thinkingLevel,
    systemPrompt: await environment.freezePrompt(first, tools),
    transcript: new Transcript(ports.readAttachment),
    async prepareRequest() {
      await hooks.beforeRequest();
      rendered = ports.render();
      return environment.tell(rendered, await environment.mount(rendered));
    },
    reachEnd: () => hooks.reachEnd(),
    awaitsFinish: () => hooks.isFinishDeclared(rendered),
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

/** Doubles from the base, with jitter; what the provider asks for is kept up to the longest wait. */
function retryDelayMs(retriesBefore: number, retryAfterMs: number | undefined, random: number): number {
  if (retryAfterMs !== undefined) return Math.min(retryAfterMs, PROVIDER_RETRY_MAX_MS);
  const base = PROVIDER_RETRY_BASE_MS * 2 ** retriesBefore;
  return Math.round(Math.min(base * (0.8 + 0.4 * random), PROVIDER_RETRY_MAX_MS));
}
