/**
 * The rules for the fields of a skill, the same for a `SKILL.md` and for a skill defined in code.
 *
 * Source: contract RUNTIME 8.
 */
import {
  MAX_SKILL_COMPATIBILITY_CHARS,
  MAX_SKILL_DESCRIPTION_CHARS,
  MAX_SKILL_NAME_CHARS,
} from "../protocol/limits.ts";

/** As they were written; whether they fit is what is asked. */
export interface SkillFields {
  name?: unknown;
  description?: unknown;
  license?: unknown;
  compatibility?: unknown;
  /** An object of strings. */
  metadata?: unknown;
}

const NAME = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;

/** Characters as a person counts them, not UTF-16 units. */
function countCharacters(text: string): number {
  return [...text].length;
}

function nameFault(name: unknown): string | undefined {
  if (name === undefined || name === "") return "name is missing.";
  if (typeof name !== "string") return "name must be text.";
  if (NAME.test(name) && name.length <= MAX_SKILL_NAME_CHARS) return undefined;
  const rule = `lowercase letters, digits and single hyphens between them, at most ${MAX_SKILL_NAME_CHARS} characters`;
  return `name ${JSON.stringify(name)} is not allowed: ${rule}.`;
}

function descriptionFault(description: unknown): string | undefined {
  if (description === undefined) return "description is missing.";
  if (typeof description !== "string") return "description must be text.";
  if (foldDescription(description) === "") return "description is missing.";
  return countCharacters(description.trim()) > MAX_SKILL_DESCRIPTION_CHARS
    ? `description is longer than ${MAX_SKILL_DESCRIPTION_CHARS} characters.`
    : undefined;
}

function compatibilityFault(compatibility: unknown): string | undefined {
  if (compatibility === undefined) return undefined;
  if (typeof compatibility !== "string") return "compatibility must be text.";
  return countCharacters(compatibility) > MAX_SKILL_COMPATIBILITY_CHARS
    ? `compatibility is longer than ${MAX_SKILL_COMPATIBILITY_CHARS} characters.`
    : undefined;
}

function metadataFault(metadata: unknown): string | undefined {
  if (metadata === undefined) return undefined;
  const isMap = typeof metadata === "object" && metadata !== null && !Array.isArray(metadata);
  const isFlat = isMap && Object.values(metadata).every((value) => typeof value === "string");
  return isFlat ? undefined : "metadata must map names to text.";
}

/** What is wrong, in a sentence; nothing when the fields make a skill. */
export function findFieldFault(fields: SkillFields): string | undefined {
  const { name, description, license, compatibility, metadata } = fields;
  return (
    nameFault(name) ??
    descriptionFault(description) ??
    (license === undefined || typeof license === "string" ? undefined : "license must be text.") ??
    compatibilityFault(compatibility) ??
    metadataFault(metadata)
  );
}

/** A description as a catalogue shows it: on one line, without control characters or halves of surrogate pairs. */
export function foldDescription(description: string): string {
  return description
    .replaceAll(/[\s\p{Cc}]+/gu, " ")
    .trim()
    .toWellFormed();
}
