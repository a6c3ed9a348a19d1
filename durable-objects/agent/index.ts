/**
 * The authoring API: what `worker/agents/*.ts` import. `Type` builds the schemas of tools; the `create*Tool` functions are
 * the built-in ones, for a sandbox factory whose `tools` puts a list of its own together.
 */
export { Type } from "@sinclair/typebox";
export { sandbox } from "../../containers/configured.ts";
export type { SandboxDriver } from "../../containers/driver.ts";
export { bash, cloudflareSandbox, container, local, virtual } from "../../containers/drivers/index.ts";
export type { Sandbox, SandboxFactory } from "../../containers/sandbox.ts";
export { sandboxFromDriver } from "../../containers/sandbox-from-driver.ts";
export type { DeliveredMessage, SignalDelivery, UserDelivery } from "../protocol/submission.ts";
export {
  createBashTool,
  createEditTool,
  createGlobTool,
  createGrepTool,
  createReadTool,
  createWriteTool,
} from "../tools/index.ts";
export type { Agent, AgentContext, AgentEntry, CompactionChoice, ThinkingLevel } from "./agent.ts";
export type { AuthorTool, AuthorToolContext, AuthorToolResult, AuthorToolReturn, ToolLog } from "./author-tool.ts";
export { defaultModel } from "./default-model.ts";
export type { DurabilityOptions } from "./durability.ts";
export type {
  AgentFinishContext,
  AgentStartContext,
  AppendedSignal,
  ResponseFinishContext,
  ResponseStartContext,
  ResponseSummary,
  ResponseToolCall,
} from "./event-hooks.ts";
export type { DispatchReceipt } from "./render-runtime.ts";
export { useAgentFinish } from "./use-agent-finish.ts";
export { useAgentStart } from "./use-agent-start.ts";
export { type UseDataWriterOptions, useDataWriter } from "./use-data-writer.ts";
export { useDelivery } from "./use-delivery.ts";
export { type DeliveredMessageInput, useDispatchMessage } from "./use-dispatch-message.ts";
export { useInitialData } from "./use-initial-data.ts";
export { useInstruction } from "./use-instruction.ts";
export { type UseModelOptions, useModel } from "./use-model.ts";
export { type StateSetter, usePersistentState } from "./use-persistent-state.ts";
export { useResponseFinish } from "./use-response-finish.ts";
export { useResponseStart } from "./use-response-start.ts";
export { type UseSandboxOptions, useSandbox } from "./use-sandbox.ts";
export { useTool } from "./use-tool.ts";
