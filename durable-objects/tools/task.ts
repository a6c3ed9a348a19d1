/**
 * Delegates work to a child agent. Mounted in every conversation with a description that never lists the roster.
 *
 * Source: contract TOOLS 14.1. The engine gives `delegate`; an agent outside the roster is an
 * ordinary answer, as is any agent while nothing can delegate.
 */
import { type Static, Type } from "@sinclair/typebox";
import { type DurableTool, defineTool, type ToolOutput, type ToolRun } from "./define-tool.ts";
import { parameter } from "./parameter.ts";

const attachment = Type.Object({
  id: parameter(Type.String(), "Attachment ID shown in the current conversation"),
});

const parameters = Type.Object({
  description: Type.Optional(parameter(Type.String(), "Short human-readable label for the delegated work")),
  prompt: parameter(Type.String(), "Focused instructions for the child agent"),
  agent: parameter(
    Type.String({ minLength: 1 }),
    "Subagent to run the task with, from the list of currently available agents. Agents that have been removed from the list are no longer usable (until re-introduced, if ever).",
  ),
  cwd: Type.Optional(
    parameter(Type.String(), "Working directory for the child agent. AGENTS.md and skills are discovered from here."),
  ),
  attachments: Type.Optional(
    parameter(Type.Array(attachment), "Images from this conversation to include in the child agent prompt"),
  ),
});

export type TaskArguments = Static<typeof parameters>;

export interface TaskRoster {
  /** Names of the subagents declared now, in the order they are shown. */
  available(): readonly string[];
  /** Runs a declared subagent to its end and gives its answer; without it no subagent counts as declared. */
  delegate?(call: ToolRun<typeof parameters>): Promise<ToolOutput>;
}

export function createTaskTool(roster: TaskRoster): DurableTool {
  return defineTool({
    name: "task",
    label: "Run Task",
    description:
      'Delegate a focused task to a detached child agent with its own context. Use this for independent research, file exploration, or parallel work. Pass attachment IDs shown in the conversation to include those images. The task returns only its final answer to this conversation. Agents available for delegation are listed under "Available Agents" in the system prompt.',
    parameters,
    replayPolicy: "resume",
    async run(call) {
      const { agent } = call.args;
      const available = roster.delegate ? [...roster.available()] : [];
      if (roster.delegate === undefined || !available.includes(agent)) {
        const names = available.join(", ") || "(none)";
        return {
          text: `Subagent "${agent}" is not declared. Available subagents: ${names}.`,
          details: { agent, available },
        };
      }
      return roster.delegate(call);
    },
  });
}
