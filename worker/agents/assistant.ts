/** Sample agent: a conversation without a sandbox. */
import { type Agent, defaultModel, useModel } from "../../durable-objects/agent/index.ts";

export const assistant: Agent = () => {
  useModel(defaultModel());
  return "You are a helpful assistant. Answer briefly and say so when you do not know.";
};
assistant.description = "Answers questions. Has no files and no shell.";
