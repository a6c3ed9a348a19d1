/**
 * What changed since the model was last told, as the signals that tell it: one for each changed kind, nothing rewritten.
 *
 * A change of the environment is told in full and stands in for the kinds that changed with it. Pure.
 *
 * Source: contract RUNTIME 5 ("Signals on change").
 */
import type { CatalogueEntry, Surface } from "../protocol/surface.ts";
import { type EnvironmentChange, renderEnvironmentChange } from "./environment-change.ts";
import { catalogueLine } from "./section.ts";

export interface DriftSignal {
  signalType: "resources" | "instructions" | "environment";
  body: string;
  attributes?: Record<string, string>;
}

interface Kind {
  /** Value of the attribute `resource`. */
  resource: "skill" | "tool" | "subagent";
  one: string;
  many: string;
  entriesOf(surface: Surface): readonly CatalogueEntry[];
  isUpdated(before: Surface, now: Surface, name: string): boolean;
  /** Whether an update repeats the description: a tool's reaches the model with the tool itself. */
  tellsUpdate: boolean;
}

function isRedescribed(before: readonly CatalogueEntry[], now: readonly CatalogueEntry[], name: string): boolean {
  const description = (entries: readonly CatalogueEntry[]) => entries.find((entry) => entry.name === name)?.description;
  return description(before) !== description(now);
}

const KINDS: readonly Kind[] = [
  {
    resource: "skill",
    one: "skill",
    many: "skills",
    entriesOf: (surface) => surface.skills,
    isUpdated: (before, now, name) => isRedescribed(before.skills, now.skills, name),
    tellsUpdate: true,
  },
  {
    resource: "tool",
    one: "tool",
    many: "tools",
    entriesOf: (surface) => surface.tools,
    isUpdated: (before, now, name) => digestOf(before, name) !== digestOf(now, name),
    tellsUpdate: false,
  },
  {
    resource: "subagent",
    one: "agent",
    many: "agents",
    entriesOf: (surface) => surface.agents,
    isUpdated: (before, now, name) => isRedescribed(before.agents, now.agents, name),
    tellsUpdate: true,
  },
];

function digestOf(surface: Surface, name: string): string | undefined {
  return surface.tools.find((tool) => tool.name === name)?.digest;
}

function renderNames(entries: readonly CatalogueEntry[]): string {
  return entries.length === 0 ? "(none)" : entries.map(({ name }) => name).join(", ");
}

function tellKind(kind: Kind, before: Surface, now: Surface): DriftSignal | undefined {
  const { one, many } = kind;
  const old = kind.entriesOf(before);
  const current = kind.entriesOf(now);
  const isIn = (entries: readonly CatalogueEntry[], name: string) => entries.some((entry) => entry.name === name);
  const added = current.filter(({ name }) => !isIn(old, name));
  const removed = old.filter(({ name }) => !isIn(current, name));
  const updated = current.filter(({ name }) => isIn(old, name) && kind.isUpdated(before, now, name));
  if (added.length + removed.length + updated.length === 0) return undefined;
  const lines: string[] = [];
  if (added.length > 0) lines.push(`New ${added.length === 1 ? one : many} available:`, ...added.map(catalogueLine));
  for (const { name } of removed) lines.push(`The ${one} "${name}" is no longer available.`);
  for (const entry of updated) {
    if (kind.tellsUpdate) lines.push(`The ${one} "${entry.name}" was updated:`, catalogueLine(entry));
    else lines.push(`The ${one} "${entry.name}" was updated.`);
  }
  lines.push(`All available ${many}: ${renderNames(current)}`);
  return { signalType: "resources", attributes: { resource: kind.resource }, body: lines.join("\n") };
}

/** The sandbox came, went, or is another one; the loss of its files is told by who notices it. */
function environmentChangeOf(before: Surface["sandbox"], now: Surface["sandbox"]): EnvironmentChange | undefined {
  if (before === undefined) return now === undefined ? undefined : "attached";
  if (now === undefined) return "detached";
  if (before.kind !== now.kind) return "replaced";
  return before.cwd === now.cwd ? undefined : "moved";
}

/**
 * @param instructions the whole document of the render that `now` is of.
 * @param isLost the workspace's files are gone although its sandbox is the same.
 */
export function findDrift(before: Surface, now: Surface, instructions: string, isLost: boolean): DriftSignal[] {
  const signals: DriftSignal[] = [];
  const change = environmentChangeOf(before.sandbox, now.sandbox) ?? (isLost ? "lost" : undefined);
  if (change !== undefined) {
    signals.push({ signalType: "environment", body: renderEnvironmentChange(change, now) });
  } else {
    for (const kind of KINDS) {
      const signal = tellKind(kind, before, now);
      if (signal) signals.push(signal);
    }
  }
  if (before.instructions !== now.instructions) {
    const document = instructions.trim() === "" ? "(There are no instructions any more.)" : instructions;
    signals.push({ signalType: "instructions", body: `System instructions updated.\n\n${document}` });
  }
  return signals;
}
