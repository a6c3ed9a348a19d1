/**
 * Puts a deployment together from its agents: the door and the engine's object class, both over the same agents and
 * settings.
 */
import { env } from "cloudflare:workers";
import type { ContainerNamespace } from "../containers/container-rpc.ts";
import type { SandboxHost } from "../containers/sandbox.ts";
import type { AgentEntry } from "../durable-objects/agent/agent.ts";
import { type AgentRegistry, createAgentRegistry } from "../durable-objects/agent/registry.ts";
import { conversationClass } from "../durable-objects/conversation/conversation.ts";
import { BerthError } from "../durable-objects/protocol/errors.ts";
import type { ConversationRpc } from "../durable-objects/protocol/rpc.ts";
import type { Settings } from "../durable-objects/protocol/settings.ts";
import { version } from "../package.json";
import { type Environment, parseSettings } from "./config.ts";
import { createApp } from "./http/app.ts";

interface Bindings {
  CONVERSATION: DurableObjectNamespace;
  /** Only in `[env.container]`. */
  CONTAINERS?: DurableObjectNamespace;
  /** Only where `cloudflareSandbox()` has its container. */
  Sandbox?: unknown;
}

// The environment of an isolate never changes: parsed at the first request and kept.
let parsed: Settings | undefined;
function readSettings(): Settings {
  parsed ??= parseSettings(env as unknown as Environment);
  return parsed;
}

function lend(): Omit<SandboxHost, "files"> {
  const { CONTAINERS, Sandbox } = env as unknown as Bindings;
  // As with the conversation's stub below.
  return { ...(CONTAINERS && { containers: CONTAINERS as unknown as ContainerNamespace }), sandboxes: Sandbox };
}

function conversationOf(agent: string, id: string): ConversationRpc {
  const { CONVERSATION } = env as unknown as Bindings;
  // The stub answers with the values of `ConversationRpc`; its own type adds disposers that nothing here needs.
  return CONVERSATION.getByName(`${agent}/${id}`) as unknown as ConversationRpc;
}

/** A list that cannot be served leaves none of its agents served, and every request is told why. */
function readRegistry(agents: Record<string, AgentEntry>): { registry: AgentRegistry; fault?: BerthError } {
  try {
    return { registry: createAgentRegistry(agents) };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    console.error(JSON.stringify({ event: "agents_not_served", error: message }));
    const details = "Correct worker/agents/ and save or deploy again.";
    return { registry: createAgentRegistry({}), fault: new BerthError("runtime_unavailable", message, { details }) };
  }
}

/** `Conversation` is the class to export under that name, `handler` the default export. */
export function composeWorker(agents: Record<string, AgentEntry>) {
  const { registry, fault } = readRegistry(agents);
  const settings = (): Settings => {
    if (fault) throw fault;
    return readSettings();
  };
  const app = createApp({ agents: registry, settings, conversationOf, version });
  return {
    Conversation: conversationClass({ agents: registry, settings, lend }),
    handler: { fetch: (request: Request) => app.fetch(request) } satisfies ExportedHandler,
  };
}
