/**
 * Puts together what a render offers the model, for comparison with what it was told last.
 *
 * Source: contract RUNTIME 5.
 */
import { createHash } from "node:crypto";
import type { RenderedAgent } from "../agent/agent.ts";
import type { CatalogueEntry, Surface, ToolEntry } from "../protocol/surface.ts";
import type { DurableTool } from "../tools/define-tool.ts";

export interface SurfaceParts {
  rendered: RenderedAgent;
  sandbox: Surface["sandbox"];
  /** In contract order. */
  tools: readonly DurableTool[];
  skills: readonly CatalogueEntry[];
  agents: readonly CatalogueEntry[];
}

function digestOf(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

function toolEntry({ name, description, parameters }: DurableTool): ToolEntry {
  return { name, description, digest: digestOf(JSON.stringify([description, parameters])) };
}

export function surfaceOf({ rendered, sandbox, tools, skills, agents }: SurfaceParts): Surface {
  return {
    instructions: digestOf(rendered.instructions),
    ...(sandbox && { sandbox }),
    tools: tools.map(toolEntry),
    skills: skills.map(({ name, description }) => ({ name, description })),
    agents: agents.map(({ name, description }) => ({ name, description })),
  };
}

/**
 * The tools in the order the model knows them from. The array in a request is frozen with the prompt: another order of the
 * same tools (an agent that was only rearranged) must not cost the provider's cache.
 */
export function inToldOrder(tools: readonly DurableTool[], now: Surface, told: Surface): DurableTool[] {
  const places = new Map(told.tools.map(({ name, digest }, place) => [`${name}\n${digest}`, place]));
  const placed = now.tools.map(({ name, digest }) => places.get(`${name}\n${digest}`));
  const isSameSet = tools.length === told.tools.length && placed.every((place) => place !== undefined);
  if (!isSameSet) return [...tools];
  const ordered: DurableTool[] = [];
  placed.forEach((place, i) => {
    const tool = tools[i];
    if (place !== undefined && tool !== undefined) ordered[place] = tool;
  });
  return ordered;
}
