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
export type { SkillDefinition } from "../skills/package-definition.ts";
export type { PackagedSkill } from "../skills/skill.ts";
export {
  createBashTool,
  createEditTool,
  createGlobTool,
  createGrepTool,
  createReadTool,
  createWriteTool,
} from "../tools/index.ts";
export type { Agent, AgentContext, AgentEntry, CompactionChoice, ThinkingLevel } from "./agent.ts";
export type {
  AuthorTool,
  AuthorToolContext,
  AuthorToolResult,
  AuthorToolReturn,
  ToolLog,
  ToolSteps,
} from "./author-tool.ts";
export { defaultModel } from "./default-model.ts";
export { defineSkill } from "./define-skill.ts";
export { defineTool } from "./define-tool.ts";
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
export type {
  CallHandle,
  Harness,
  PromptImage,
  PromptModel,
  PromptOptions,
  PromptResponse,
  PromptResultResponse,
  PromptUsage,
  ShellOptions,
  ShellResult,
} from "./harness.ts";
export { type PackagedSkillName, packagedSkill } from "./packaged-skill.ts";
export type { DispatchReceipt } from "./render-runtime.ts";
export type { ToolDefinition } from "./tool-definition.ts";
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
export { useSkill } from "./use-skill.ts";
export { useTool } from "./use-tool.ts";
