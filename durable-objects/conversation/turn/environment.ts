/**
 * The environment of one attempt: which sandbox is attached, which tools and skills the model is given, and what it has
 * been told of them.
 *
 * Whether there is a sandbox is read from every render; which one, with what working directory, when the submission
 * starts or one is attached. The first contact notes what there is in silence; from then on every difference is told by
 * a signal, in the transaction that notes it, so that it is told once, crash or not, and also when it came about while
 * nothing ran.
 *
 * A workspace is looked at for skills at first contact, when a sandbox is attached, when another file system has taken the
 * place of a lost one, and when a submission starts after tools have run since, or over files that others write too: what
 * an agent writes for itself it finds with its next message.
 *
 * Source: contract RUNTIME 4 (tool order), 5; ARCHITECTURE 6.
 */
import type { Sandbox } from "../../../containers/sandbox.ts";
import type { RenderedAgent, SandboxChoice } from "../../agent/agent.ts";
import type { HarnessSource } from "../../agent/harness-source.ts";
import { composePrompt } from "../../prompt/compose.ts";
import { discoverWorkspace } from "../../prompt/discovery.ts";
import { findDrift } from "../../prompt/drift.ts";
import type { Workspace } from "../../prompt/section.ts";
import { inToldOrder, surfaceOf } from "../../prompt/surface.ts";
import { MAX_PARALLEL_TOOLS } from "../../protocol/limits.ts";
import type { RecordBody } from "../../protocol/records.ts";
import type { Surface } from "../../protocol/surface.ts";
import { findShadowedSkills, liveSkills } from "../../skills/live-skills.ts";
import type { WorkspaceSkill } from "../../skills/skill.ts";
import type { DurableTool } from "../../tools/define-tool.ts";
import { bindWrites } from "./bind-writes.ts";
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
  readonly #equipment: Omit<Equipment, "workspaceSkills">;
  readonly #enter = createGate(MAX_PARALLEL_TOOLS);
  #attached: AttachedSandbox | undefined;
  /** Absent before the first contact. */
  #told: Surface | undefined;
  #skills: readonly WorkspaceSkill[] = [];
  /** What was found in the workspace and is not noted yet. */
  #found: Workspace | undefined;

  constructor(ports: AttemptPorts, harnesses: HarnessSource) {
    this.#ports = ports;
    this.#equipment = { locks: ports.locks, notes: createCallNotes(ports), harnesses };
    this.#told = ports.environment.readTold();
  }

  get attached(): AttachedSandbox | undefined {
    return this.#attached;
  }

  /** As they were found last. */
  get workspaceSkills(): readonly WorkspaceSkill[] {
    return this.#skills;
  }

  /** Absent: the agent has none at the moment. */
  get sandbox(): Sandbox | undefined {
    return this.#attached?.sandbox;
  }

  /** Attaches or detaches as the render says; the tools that belong to it, in contract order. */
  async mount(rendered: RenderedAgent): Promise<DurableTool[]> {
    const { sandbox: choice } = rendered;
    if (!choice) {
      this.#attached = undefined;
      this.#skills = [];
    } else if (!this.#attached) {
      await this.#attach(rendered, choice);
    }
    return this.#assemble(rendered);
  }

  /** The system prompt: as it was frozen, or composed and frozen now, together with what it tells. */
  freezePrompt(rendered: RenderedAgent, tools: readonly DurableTool[]): string {
    const { prompt } = this.#ports;
    const frozen = prompt.read();
    if (frozen !== undefined) return frozen;
    const surface = this.#surface(rendered, tools);
    const text = this.#compose(rendered, surface);
    prompt.freeze(text, surface, this.#skills);
    this.#noteTold(surface);
    return text;
  }

  /** Composes the prompt anew from what there is now and stores it with the compaction that asks for it. */
  async rebasePrompt(rendered: RenderedAgent, compaction: RecordBody): Promise<string> {
    if (this.sandbox) {
      this.#found = await discoverWorkspace(this.sandbox);
      this.#skills = this.#found.skills;
    }
    const surface = this.#surface(rendered, this.#assemble(rendered));
    const text = this.#compose(rendered, surface);
    this.#ports.prompt.rebase(text, surface, this.#skills, compaction);
    this.#noteTold(surface);
    return text;
  }

  #compose(rendered: RenderedAgent, surface: Surface): string {
    return composePrompt({
      instructions: rendered.instructions,
      tools: surface.tools.map(({ name }) => name),
      skills: surface.skills,
      agents: surface.agents,
      now: this.#ports.clock.now(),
      ...(this.#found && { workspace: this.#found }),
    });
  }

  #noteTold(surface: Surface): void {
    this.#told = surface;
    this.#found = undefined;
  }

  /** Mounts what the render asks for and tells what is another than it was told; the tools as the next request has them. */
  async follow(rendered: RenderedAgent): Promise<DurableTool[]> {
    const { submissionId, environment } = this.#ports;
    await this.mount(rendered);
    const generation = await this.#readGeneration();
    const known = environment.readGeneration();
    const isSwitched = generation !== undefined && generation !== known;
    const isReplaced = isSwitched && known !== undefined;
    const isLost = isReplaced && known !== NO_GENERATION;
    if (isReplaced) await this.#lookAgain(rendered, generation);
    const tools = this.#assemble(rendered);
    const now = this.#surface(rendered, tools);
    const signals = this.#told ? findDrift(this.#told, now, rendered.instructions, isLost) : [];
    const isNews = signals.length > 0 || !this.#told;
    if (isNews || isSwitched || this.#found) {
      const told = signals.map((signal): RecordBody => ({ type: "signal", submissionId, ...signal }));
      const noted = {
        ...(isNews && { surface: now }),
        ...(isSwitched && { generation }),
        ...((this.#found || isReplaced) && { workspaceSkills: this.#skills }),
      };
      environment.note(noted, told);
      if (isNews) this.#told = now;
      this.#found = undefined;
    }
    return inToldOrder(tools, now, this.#told ?? now);
  }

  async #attach(rendered: RenderedAgent, choice: SandboxChoice): Promise<void> {
    const { openSandbox, environment } = this.#ports;
    const { factory, cwd } = choice;
    const sandbox = await openSandbox(factory, cwd);
    const kind = factory.kind ?? "custom";
    this.#attached = { choice, sandbox };
    const known = this.#told?.sandbox;
    const isKnown = known?.kind === kind && known.cwd === sandbox.cwd;
    if (isKnown) this.#skills = environment.readWorkspaceSkills();
    if (isKnown && !factory.isShared && !environment.isWorkspaceUsed()) return;
    // What was found before is still there to be used; a sandbox that is seen for the first time must answer.
    if (isKnown) await this.#tryToDiscover(rendered, sandbox);
    else await this.#discover(rendered, sandbox);
  }

  async #discover(rendered: RenderedAgent, sandbox: Sandbox): Promise<void> {
    this.#found = await discoverWorkspace(sandbox);
    this.#skills = this.#found.skills;
    this.#reportSkills(rendered, this.#found);
  }

  async #tryToDiscover(rendered: RenderedAgent, sandbox: Sandbox): Promise<void> {
    const { submissionId, report } = this.#ports;
    await this.#discover(rendered, sandbox).catch((error: unknown) =>
      report("skill_discovery_failed", { submissionId, error: String(error) }),
    );
  }

  /** The skills of the file system that took the lost one's place; none while nothing has, for a look would make one. */
  async #lookAgain(rendered: RenderedAgent, generation: string): Promise<void> {
    this.#skills = [];
    this.#found = undefined;
    if (this.sandbox && generation !== NO_GENERATION) await this.#tryToDiscover(rendered, this.sandbox);
  }

  #assemble(rendered: RenderedAgent): DurableTool[] {
    const equipment = { ...this.#equipment, workspaceSkills: this.#skills };
    return bindWrites(guardTools(assembleTools(rendered, this.sandbox, equipment), this.#enter), this.#ports.seams);
  }

  #surface(rendered: RenderedAgent, tools: readonly DurableTool[]): Surface {
    const attached = this.#attached;
    return surfaceOf({
      rendered,
      sandbox: attached && { kind: attached.choice.factory.kind ?? "custom", cwd: attached.sandbox.cwd },
      tools,
      skills: liveSkills(rendered.skills, this.#skills),
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

  /** What of a workspace's skills does not reach the model, for who wonders where one went. */
  #reportSkills(rendered: RenderedAgent, { skills, skippedSkills }: Workspace): void {
    const { submissionId, report } = this.#ports;
    for (const { path, reason } of skippedSkills) report("skill_skipped", { submissionId, path, reason });
    for (const { name, directory } of findShadowedSkills(rendered.skills, skills)) {
      report("skill_shadowed", { submissionId, name, directory });
    }
  }
}

/** Whether a command that was started may not be asked for again by its key: it belongs to a file system that is gone. */
export async function isWorkspaceLost({ environment }: AttemptPorts, sandbox: Sandbox | undefined): Promise<boolean> {
  if (!sandbox?.generation) return false;
  const current = await sandbox.generation().catch(() => undefined);
  return current === undefined || current !== environment.readGeneration();
}
