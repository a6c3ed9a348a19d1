/** The agent of a simulated run: a shell, files, a durable tool, and two tools that run a command in a scratch conversation. */

import { Type } from "@sinclair/typebox";
import type { RenderedAgent } from "../../durable-objects/agent/agent.ts";
import { createDurableTool } from "../../durable-objects/agent/author-tool.ts";
import { defineTool } from "../../durable-objects/agent/define-tool.ts";
import type { Harness } from "../../durable-objects/agent/harness.ts";
import { type Plan, SCRATCH } from "./scripted-model.ts";
import type { World } from "./world.ts";

/** @param version instructions change with every deployment; the frozen prompt must not. */
export function renderSimulatedAgent(world: World, instance: number, version: number): RenderedAgent {
  const sandbox = world.workspace.sandbox(instance);
  const steps = createDurableTool(
    defineTool({
      name: "steps",
      description: "Does two steps, each once.",
      input: Type.Object({ command: Type.String() }),
      durable: true,
      async run({ data, step }) {
        const { command } = data;
        for (const part of ["a", "b"]) {
          // A step is recorded once; its work may be cut before that, so it is keyed like everything outside.
          await step.do(
            part,
            async () => (await sandbox.exec(`${command}/${part}`, { key: `${command}/${part}` })).stdout,
          );
        }
        return `did ${command}`;
      },
    }),
  );
  const runInScratch = async (harness: Harness, line: string): Promise<string> => {
    const plan: Plan = { name: `${SCRATCH} ${line}`, turns: [[{ kind: "ledger", line }]] };
    return (await harness.prompt(JSON.stringify(plan))).text;
  };
  const ask = createDurableTool(
    defineTool({
      name: "ask",
      description: "Has a command run, and does not know after a crash whether it was.",
      input: Type.Object({ command: Type.String() }),
      harness: true,
      run: ({ data, harness }) => runInScratch(harness, `${data.command}/inner`),
    }),
  );
  const askAgain = createDurableTool(
    defineTool({
      name: "askAgain",
      description: "Has a command run, in another conversation after every crash.",
      input: Type.Object({ command: Type.String() }),
      harness: true,
      durable: true,
      run: ({ data, harness }) => runInScratch(harness, `${data.command}/inner#${world.scratchRuns++}`),
    }),
  );
  const extra = createDurableTool({ name: "extra", description: "Does nothing.", run: () => "nothing" });
  return {
    instructions: `Do the plan. (${version})`,
    model: { spec: "sim/sim", thinkingLevel: "off" },
    sandbox: {
      factory: {
        kind: "sim",
        async createSandbox() {
          // Nobody hears an abort here: the supervisor must settle over it.
          if (world.random.chance(0.01)) await new Promise(() => {});
          return sandbox;
        },
      },
    },
    // A tool that comes and goes with the deployments.
    tools: [steps, ask, askAgain, ...(version % 2 === 0 ? [] : [extra])],
  };
}
