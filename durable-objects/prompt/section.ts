/**
 * What the system prompt is made from, and what one section of it is.
 *
 * Source: contract RUNTIME 5.
 */
import type { CatalogueEntry } from "../protocol/surface.ts";

/** What was found in the sandbox at composition. */
export interface Workspace {
  cwd: string;
  /** Text of `AGENTS.md`, else `CLAUDE.md`, trimmed and cut. */
  guide?: string;
  /** Rendered names of one level, sorted, directories with a trailing slash, at most 200. */
  entries: string[];
  /** How many names were left out. */
  omitted: number;
}

export interface PromptInput {
  instructions: string;
  /** Absent without a sandbox. */
  workspace?: Workspace;
  /** Declared delegates. */
  agents: readonly CatalogueEntry[];
  /** Tool names in tool order. */
  tools: readonly string[];
  /** Milliseconds since the epoch. */
  now: number;
}

export interface PromptSection {
  id: string;
  /** The section's text, or nothing when it does not apply. Pure. */
  render(input: PromptInput): string | undefined;
}

export function catalogueLine({ name, description }: CatalogueEntry): string {
  return `- **${name}** — ${description}`;
}

export function renderCatalogue(entries: readonly CatalogueEntry[]): string {
  return entries.map(catalogueLine).join("\n");
}
