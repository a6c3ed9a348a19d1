/**
 * The agent of a simulated run: a shell, files, a durable tool, two tools that run a command in a scratch conversation, and
 * in some runs hooks.
 */

import { Type } from "@sinclair/typebox";
import type { Agent, RenderedAgent } from "../../durable-objects/agent/agent.ts";
import type { Harness } from "../../durable-objects/agent/harness.ts";
import { useModel, useSandbox, useTool } from "../../durable-objects/agent/index.ts";
import { renderAgent } from "../../durable-objects/agent/render-agent.ts";
import type { RenderRuntime } from "../../durable-objects/agent/render-runtime.ts";
import type { Settings } from "../../durable-objects/protocol/settings.ts";
import { type Plan, SCRATCH } from "./scripted-model.ts";
import { useSimulatedHooks } from "./simulated-hooks.ts";
import type { World } from "./world.ts";

const SETTINGS: Settings = {
  model: "sim/sim",
  contextWindow: 1_000_000,
  maxTokens: 10_000,
  anthropic: {},
  openai: {},
  sandbox: "none",
  auth: { tokens: [], openForDevelopment: false },
};

export interface SimulatedRender {
  world: World;
  instance: number;
  /** Instructions change with every deployment; the frozen prompt must not. */
  version: number;
  hasHooks: boolean;
  runtime: RenderRuntime;
}

async function runInScratch(harness: Harness, line: string): Promise<string> {
  const plan: Plan = { name: `${SCRATCH} ${line}`, turns: [[{ kind: "ledger", line }]] };
  return (await harness.prompt(JSON.stringify(plan))).text;
}

export function renderSimulatedAgent(render: SimulatedRender): RenderedAgent {
  const { world, instance, version, hasHooks, runtime } = render;
  const sandbox = world.workspace.sandbox(instance);
  const agent: Agent = () => {
    useModel("sim/sim", { thinkingLevel: "off", compaction: { reserveTokens: 100, keepRecentTokens: 60 } });
    useSandbox({
      kind: "sim",
      async createSandbox() {
        // Nobody hears an abort here: the supervisor must settle over it.
        if (world.random.chance(0.01)) await new Promise(() => {});
        return sandbox;
      },
    });
    useTool({
      name: "steps",
      description: "Does two steps, each once.",
      input: Type.Object({ command: Type.String() }),
      durable: true,
      async run({ data: { command }, step }) {
        for (const part of ["a", "b"]) {
          // A step is recorded once; its work may be cut before that, so it is keyed like everything outside.
          await step.do(
            part,
            async () => (await sandbox.exec(`${command}/${part}`, { key: `${command}/${part}` })).stdout,
          );
        }
        return `did ${command}`;
      },
    });
    useTool({
      name: "ask",
      description: "Has a command run, and does not know after a crash whether it was.",
      input: Type.Object({ command: Type.String() }),
      harness: true,
      run: ({ data, harness }) => runInScratch(harness, `${data.command}/inner`),
    });
    useTool({
      name: "askAgain",
      description: "Has a command run, in another conversation after every crash.",
      input: Type.Object({ command: Type.String() }),
      harness: true,
      durable: true,
      run: ({ data, harness }) => runInScratch(harness, `${data.command}/inner#${world.scratchRuns++}`),
    });
    // A tool that comes and goes with the deployments.
    if (version % 2 === 1) useTool({ name: "extra", description: "Does nothing.", run: () => "nothing" });
    if (hasHooks) useSimulatedHooks(world);
    return `Do the plan. (${version})`;
  };
  return renderAgent({ name: "sim", agent, http: true }, { id: "one", settings: SETTINGS, runtime });
}
