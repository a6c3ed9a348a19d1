/**
 * The deployer's list of agents, checked once when the Worker starts.
 *
 * Source: contract RUNTIME 1.1, 4.
 */
import type { Agent, AgentEntry, RegisteredAgent } from "./agent.ts";
import { parseDurability } from "./durability.ts";
import { isRecord, unknownField } from "./options.ts";

export interface AgentRegistry {
  get(name: string): RegisteredAgent | undefined;
  /** In the order of the deployer's list. */
  list(): readonly RegisteredAgent[];
}

const AGENT_NAME = /^[A-Za-z][A-Za-z0-9]*(?:-[A-Za-z0-9]+)*$/;

/** @param key the entry's name in the deployer's list. */
function parseEntry(key: string, entry: AgentEntry): RegisteredAgent {
  const options: unknown = entry;
  if (typeof entry === "function") return register(key, entry, true);
  if (!isRecord(options) || typeof options.agent !== "function") {
    throw new Error(`Agent "${key}" must be a function or { agent, http? }.`);
  }
  const unknown = unknownField(options, ["agent", "http"]);
  if (unknown !== undefined) throw new Error(`Agent "${key}" received unknown field "${unknown}".`);
  if (options.http !== undefined && typeof options.http !== "boolean") {
    throw new Error(`Agent "${key}": http must be true or false.`);
  }
  return register(key, entry.agent, entry.http ?? true);
}

function register(key: string, agent: Agent, http: boolean): RegisteredAgent {
  const name = agent.agentName ?? key;
  if (typeof name !== "string" || !AGENT_NAME.test(name)) {
    throw new Error(
      `Agent name "${name}" is not valid: letters and digits, in words joined by single hyphens, a letter first.`,
    );
  }
  const registered: RegisteredAgent = { name, agent, http, durability: parseDurability(name, agent.durability) };
  if (agent.description !== undefined) registered.description = agent.description;
  return registered;
}

/** Throws for a name or an entry that cannot be served. */
export function createAgentRegistry(agents: Record<string, AgentEntry>): AgentRegistry {
  const entries = new Map<string, RegisteredAgent>();
  for (const [key, entry] of Object.entries(agents)) {
    const registered = parseEntry(key, entry);
    if (entries.has(registered.name)) throw new Error(`Two agents have the name "${registered.name}".`);
    entries.set(registered.name, registered);
  }
  const list = Object.freeze([...entries.values()]);
  return { get: (name) => entries.get(name), list: () => list };
}
