/** The log an event hook callback is given: lines of JSON that name the agent and the hook. */
import type { ToolLog } from "./author-tool.ts";

export function createCallbackLog(agent: string, hook: string): ToolLog {
  const write = (level: "info" | "warn" | "error") => (message: string, attributes?: Record<string, unknown>) =>
    console[level](JSON.stringify({ event: "hook_log", level, agent, hook, message, ...attributes }));
  return { info: write("info"), warn: write("warn"), error: write("error") };
}
