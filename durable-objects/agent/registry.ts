/**
 * The deployer's list of agents, checked once when the Worker starts.
 *
 * Source: contract RUNTIME 1.1, 4.
 */
import type { Agent, AgentEntry, RegisteredAgent } from "./agent.ts";
import { isRecord, unknownField } from "./options.ts";

export interface AgentRegistry {
  get(name: string): RegisteredAgent | undefined;
  /** In the order of the deployer's list. */
  list(): readonly RegisteredAgent[];
}

const AGENT_NAME = /^[A-Za-z][A-Za-z0-9]*(?:-[A-Za-z0-9]+)*$/;

function parseEntry(name: string, entry: AgentEntry): RegisteredAgent {
  if (!AGENT_NAME.test(name)) {
    throw new Error(
      `Agent name "${name}" is not valid: letters and digits, in words joined by single hyphens, a letter first.`,
    );
  }
  const options: unknown = entry;
  if (typeof entry === "function") return register(name, entry, true);
  if (!isRecord(options) || typeof options.agent !== "function") {
    throw new Error(`Agent "${name}" must be a function or { agent, http? }.`);
  }
  const unknown = unknownField(options, ["agent", "http"]);
  if (unknown !== undefined) throw new Error(`Agent "${name}" received unknown field "${unknown}".`);
  if (options.http !== undefined && typeof options.http !== "boolean") {
    throw new Error(`Agent "${name}": http must be true or false.`);
  }
  return register(name, entry.agent, entry.http ?? true);
}

function register(name: string, agent: Agent, http: boolean): RegisteredAgent {
  const registered: RegisteredAgent = { name, agent, http };
  if (agent.description !== undefined) registered.description = agent.description;
  return registered;
}

/** Throws for a name or an entry that cannot be served. */
export function createAgentRegistry(agents: Record<string, AgentEntry>): AgentRegistry {
  const entries = new Map(Object.entries(agents).map(([name, entry]) => [name, parseEntry(name, entry)]));
  const list = Object.freeze([...entries.values()]);
  return { get: (name) => entries.get(name), list: () => list };
}
