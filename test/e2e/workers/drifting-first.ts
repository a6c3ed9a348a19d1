/** The first deployment of the drifting agent. */
import { composeWorker } from "../../../worker/compose.ts";
import { driftingAgent } from "./drifting-agent.ts";

export { Sandbox } from "@cloudflare/sandbox";
export { ContainerSandbox } from "../../../containers/container-object.ts";

const worker = composeWorker({ drifting: driftingAgent("You are the first.") });
export class Conversation extends worker.Conversation {}
export default worker.handler;
