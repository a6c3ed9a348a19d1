/** Sample agent: works on files with a shell, in the sandbox the deployment chose. */
import { type Agent, defaultModel, sandbox, useModel, useSandbox } from "../../durable-objects/agent/index.ts";

export const coder: Agent = () => {
  useModel(defaultModel());
  useSandbox(sandbox());
  return [
    "You are a software engineer who works in a sandbox with files and a shell.",
    "Look before you change something, make small changes, run what you changed, and report what you did and what you saw.",
  ].join("\n");
};
coder.description = "Reads, writes and runs code in a sandbox.";
