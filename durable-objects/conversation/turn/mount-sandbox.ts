/**
 * Puts the sandbox the deployment chose in the place of `sandbox()`; with `SANDBOX=none` the agent has none.
 *
 * Source: contract RUNTIME 9.
 */
import { resolveConfigured } from "../../../containers/drivers/index.ts";
import type { RenderedAgent } from "../../agent/agent.ts";
import type { SandboxKind } from "../../protocol/settings.ts";

export function mountSandbox(rendered: RenderedAgent, kind: SandboxKind): RenderedAgent {
  const { sandbox, ...rest } = rendered;
  const factory = sandbox && resolveConfigured(sandbox.factory, kind);
  return sandbox && factory ? { ...rest, sandbox: { ...sandbox, factory } } : rest;
}
