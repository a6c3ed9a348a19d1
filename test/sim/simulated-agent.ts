/** The agent of a simulated run: a shell, files, and a durable tool of its own. */

import { Type } from "@sinclair/typebox";
import type { RenderedAgent } from "../../durable-objects/agent/agent.ts";
import { createDurableTool } from "../../durable-objects/agent/author-tool.ts";
import { defineTool } from "../../durable-objects/agent/define-tool.ts";
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
    tools: [steps],
  };
}
