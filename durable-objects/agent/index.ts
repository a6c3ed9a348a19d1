/** The authoring API: what `worker/agents/*.ts` import. `Type` builds the schemas of tools. */
export { Type } from "@sinclair/typebox";
export { sandbox } from "../../containers/configured.ts";
export type { Agent, AgentContext, AgentEntry, CompactionChoice, ThinkingLevel } from "./agent.ts";
export type { AuthorTool, AuthorToolContext, AuthorToolResult, AuthorToolReturn, ToolLog } from "./author-tool.ts";
export { defaultModel } from "./default-model.ts";
export { useInstruction } from "./use-instruction.ts";
export { type UseModelOptions, useModel } from "./use-model.ts";
export { type UseSandboxOptions, useSandbox } from "./use-sandbox.ts";
export { useTool } from "./use-tool.ts";
