/**
 * Composition root: the Worker is the door, `Conversation` the engine; both are given the deployment's agents.
 */
import { agents } from "./agents/index.ts";
import { composeWorker } from "./compose.ts";

/** The object behind each container of `cloudflareSandbox()`; `wrangler.toml` names it. */
export { Sandbox } from "@cloudflare/sandbox";
export { ContainerSandbox } from "../containers/container-object.ts";

const worker = composeWorker(agents);

export class Conversation extends worker.Conversation {}

export default worker.handler;
