/** Loads the instructions of one skill. Mounted while there is at least one. Source: contract TOOLS 14.2. */
import { Type } from "@sinclair/typebox";
import { type DurableTool, defineTool } from "./define-tool.ts";
import { parameter } from "./parameter.ts";

const parameters = Type.Object({
  name: parameter(Type.String(), "Name of the skill to activate"),
});

/** `activate` gives the text for any name, known or not. */
export function createActivateSkillTool(activate: (name: string) => Promise<string>): DurableTool {
  return defineTool({
    name: "activate_skill",
    label: "Activate Skill",
    description:
      "Load the full instructions for one available skill before performing work that matches its description. Supporting resources remain lazy until explicitly read.",
    parameters,
    replayPolicy: "rerun",
    async run({ args }) {
      const given: unknown = args.name;
      const name = typeof given === "string" ? given : "";
      return { text: await activate(name), details: { skill: name } };
    },
  });
}
