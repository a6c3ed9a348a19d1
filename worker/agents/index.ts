/** The agents of this deployment: the name here is the name in the address. Yours go here. */
import type { AgentEntry } from "../../durable-objects/agent/index.ts";
import { assistant } from "./assistant.ts";
import { coder } from "./coder.ts";
import { desk } from "./desk.ts";
import { reviewer } from "./reviewer.ts";

export const agents: Record<string, AgentEntry> = { assistant, coder, desk, reviewer };
