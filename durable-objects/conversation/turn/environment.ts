/**
 * The environment of one attempt: which sandbox is attached, which tools the model is given, and what it has been told
 * of them.
 *
 * Whether there is a sandbox is read from every render; which one, with what working directory, when the submission
 * starts or one is attached. The first contact notes what there is in silence; from then on every difference is told by
 * a signal, in the transaction that notes it, so that it is told once, crash or not, and also when it came about while
 * nothing ran.
 *
 * Source: contract RUNTIME 4 (tool order), 5; ARCHITECTURE 6.
 */
import type { Sandbox } from "../../../containers/sandbox.ts";
import type { RenderedAgent, SandboxChoice } from "../../agent/agent.ts";
import type { HarnessSource } from "../../agent/harness-source.ts";
import { composePrompt } from "../../prompt/compose.ts";
import { discoverWorkspace } from "../../prompt/discovery.ts";
import { findDrift } from "../../prompt/drift.ts";
import { inToldOrder, surfaceOf } from "../../prompt/surface.ts";
import { MAX_PARALLEL_TOOLS } from "../../protocol/limits.ts";
import type { RecordBody } from "../../protocol/records.ts";
import type { Surface } from "../../protocol/surface.ts";
import type { DurableTool } from "../../tools/define-tool.ts";
import { createCallNotes } from "./call-notes.ts";
import type { AttemptPorts } from "./ports.ts";
import { assembleTools, createGate, type Equipment, guardTools } from "./tool-bench.ts";

/** The sandbox that is attached, and what the agent asked for when it was. */
export interface AttachedSandbox {
  choice: SandboxChoice;
  sandbox: Sandbox;
}

/** Noted when the loss was told and nothing has taken the lost one's place yet. */
const NO_GENERATION = "";

export class Environment {
  readonly #ports: AttemptPorts;
  readonly #equipment: Equipment;
  readonly #enter = createGate(MAX_PARALLEL_TOOLS);
  #attached: AttachedSandbox | undefined;
  #told: Surface | undefined;

  constructor(ports: AttemptPorts, harnesses: HarnessSource) {
    this.#ports = ports;
    this.#equipment = { locks: ports.locks, notes: createCallNotes(ports), harnesses };
    this.#told = ports.environment.readTold();
  }

  get attached(): AttachedSandbox | undefined {
    return this.#attached;
  }

  /** Absent: the agent has none at the moment. */
  get sandbox(): Sandbox | undefined {
    return this.#attached?.sandbox;
  }

  /** Attaches or detaches as the render says; the tools that belong to it, in contract order. */
  async mount(rendered: RenderedAgent): Promise<DurableTool[]> {
    const { sandbox: choice } = rendered;
    if (!choice) this.#attached = undefined;
    else if (!this.#attached) {
      const sandbox = await this.#ports.openSandbox(choice.factory, choice.cwd);
      this.#attached = { choice, sandbox };
    }
    return guardTools(assembleTools(rendered, this.sandbox, this.#equipment), this.#enter);
  }

  /** The system prompt: as it was frozen, or composed and frozen now, together with what it tells. */
  async freezePrompt(rendered: RenderedAgent, tools: readonly DurableTool[]): Promise<string> {
    const frozen = this.#ports.prompt.read();
    if (frozen !== undefined) return frozen;
    const workspace = this.sandbox && (await discoverWorkspace(this.sandbox));
    const surface = this.#surface(rendered, tools);
    const text = composePrompt({
      instructions: rendered.instructions,
      tools: tools.map(({ name }) => name),
      agents: surface.agents,
      now: this.#ports.clock.now(),
      ...(workspace && { workspace }),
    });
    this.#ports.prompt.freeze(text, surface);
    this.#told = surface;
    return text;
  }

  /** Tells what is another than it was told; the tools as the next request gives them. */
  async tell(rendered: RenderedAgent, tools: readonly DurableTool[]): Promise<DurableTool[]> {
    const { submissionId, environment } = this.#ports;
    const now = this.#surface(rendered, tools);
    const generation = await this.#readGeneration();
    const known = environment.readGeneration();
    const isSwitched = generation !== undefined && generation !== known;
    const isLost = isSwitched && known !== undefined && known !== NO_GENERATION;
    const signals = this.#told ? findDrift(this.#told, now, rendered.instructions, isLost) : [];
    if (signals.length > 0 || isSwitched || !this.#told) {
      const told = signals.map((signal): RecordBody => ({ type: "signal", submissionId, ...signal }));
      const isNews = signals.length > 0 || !this.#told;
      environment.note({ ...(isNews && { surface: now }), ...(isSwitched && { generation }) }, told);
      if (isNews) this.#told = now;
    }
    return inToldOrder(tools, now, this.#told ?? now);
  }

  #surface(rendered: RenderedAgent, tools: readonly DurableTool[]): Surface {
    const attached = this.#attached;
    return surfaceOf({
      rendered,
      sandbox: attached && { kind: attached.choice.factory.kind ?? "custom", cwd: attached.sandbox.cwd },
      tools,
      skills: [],
      agents: [],
    });
  }

  /** Which file system is there now; `undefined` where none can be lost, or where the sandbox could not be asked. */
  #readGeneration(): Promise<string | undefined> {
    if (!this.sandbox?.generation) return Promise.resolve(undefined);
    return this.sandbox.generation().then(
      (generation) => generation ?? NO_GENERATION,
      () => undefined,
    );
  }
}

/** Whether a command that was started may not be asked for again by its key: it belongs to a file system that is gone. */
export async function isWorkspaceLost({ environment }: AttemptPorts, sandbox: Sandbox | undefined): Promise<boolean> {
  if (!sandbox?.generation) return false;
  const current = await sandbox.generation().catch(() => undefined);
  return current === undefined || current !== environment.readGeneration();
}
