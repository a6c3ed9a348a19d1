/** Sample agent: reviews code with skills, one packed from `worker/skills/` and one defined here. */
import {
  type Agent,
  defaultModel,
  defineSkill,
  packagedSkill,
  sandbox,
  useModel,
  useSandbox,
  useSkill,
} from "../../durable-objects/agent/index.ts";

const commitMessages = defineSkill({
  name: "commit-messages",
  description: "Write or judge a commit message. Use when a change is to be committed or its message is under review.",
  instructions: [
    "The first line says what the change brings about, as an order, in at most 60 characters, without a full stop.",
    "A blank line follows, then why: the problem, and what was decided against. What the diff shows is left out.",
    "Two ideas are two commits.",
  ].join("\n"),
});

export const reviewer: Agent = () => {
  useModel(defaultModel());
  useSandbox(sandbox());
  useSkill(packagedSkill("review-changes"));
  useSkill(commitMessages);
  return "You review code in a sandbox and change nothing unless you are asked to.";
};
reviewer.description = "Reviews changes of a repository and their commit messages.";
