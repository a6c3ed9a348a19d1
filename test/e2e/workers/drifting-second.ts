/** The second deployment of the drifting agent: other instructions. */
import { composeWorker } from "../../../worker/compose.ts";
import { driftingAgent } from "./drifting-agent.ts";

export { Sandbox } from "@cloudflare/sandbox";
export { ContainerSandbox } from "../../../containers/container-object.ts";

const worker = composeWorker({ drifting: driftingAgent("You are the second.") });
export class Conversation extends worker.Conversation {}
export default worker.handler;
