/**
 * Composition root: the Worker is the door, `Conversation` the engine; both are given the same agents and settings.
 */
import { env } from "cloudflare:workers";
import { ContainerSandbox } from "../containers/container-object.ts";
import type { ContainerNamespace } from "../containers/container-rpc.ts";
import type { SandboxHost } from "../containers/sandbox.ts";
import { createAgentRegistry } from "../durable-objects/agent/registry.ts";
import { conversationClass } from "../durable-objects/conversation/conversation.ts";
import type { ConversationRpc } from "../durable-objects/protocol/rpc.ts";
import type { Settings } from "../durable-objects/protocol/settings.ts";
import { version } from "../package.json";
import { agents } from "./agents/index.ts";
import { type Environment, parseSettings } from "./config.ts";
import { createApp } from "./http/app.ts";

interface Bindings {
  CONVERSATION: DurableObjectNamespace<Conversation>;
  /** Only in `[env.container]`. */
  CONTAINERS?: DurableObjectNamespace<ContainerSandbox>;
  /** Only where `cloudflareSandbox()` has its container. */
  Sandbox?: unknown;
}

/** The object behind each container of `cloudflareSandbox()`; `wrangler.toml` names it. */
export { Sandbox } from "@cloudflare/sandbox";
export { ContainerSandbox };

const registry = createAgentRegistry(agents);

// The environment of an isolate never changes: parsed at the first request and kept.
let parsed: Settings | undefined;
function settings(): Settings {
  parsed ??= parseSettings(env as unknown as Environment);
  return parsed;
}

function lend(): Omit<SandboxHost, "files"> {
  const { CONTAINERS, Sandbox } = env as unknown as Bindings;
  // As with the conversation's stub below.
  return { ...(CONTAINERS && { containers: CONTAINERS as unknown as ContainerNamespace }), sandboxes: Sandbox };
}

export class Conversation extends conversationClass({ agents: registry, settings, lend }) {}

function conversationOf(agent: string, id: string): ConversationRpc {
  const { CONVERSATION } = env as unknown as Bindings;
  // The stub answers with the values of `ConversationRpc`; its own type adds disposers that nothing here needs.
  return CONVERSATION.getByName(`${agent}/${id}`) as unknown as ConversationRpc;
}

const app = createApp({ agents: registry, settings, conversationOf, version });

export default { fetch: (request: Request) => app.fetch(request) } satisfies ExportedHandler;
