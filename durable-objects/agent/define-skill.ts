/**
 * `defineSkill`: a skill written in code, checked where it is defined.
 *
 * Source: contract RUNTIME 8.
 */
import { BerthError } from "../protocol/errors.ts";
import type { SkillDefinition } from "../skills/package-definition.ts";
import { SKILL_FILE } from "../skills/skill.ts";
import { findFieldFault } from "../skills/skill-fields.ts";
import { isNonEmptyString, isRecord, unknownField } from "./options.ts";

const FIELDS = [
  ...["name", "description", "instructions", "license", "compatibility", "metadata", "allowedTools", "files"],
];

/** A path that stays below the skill's folder and stands on one line. */
function isSafePath(path: string): boolean {
  if (/[\u0000-\u001f\u007f\\]/.test(path)) return false;
  return path.split("/").every((segment) => segment !== "" && segment !== "." && segment !== "..");
}

function filesFault(files: unknown): string | undefined {
  if (files === undefined) return undefined;
  if (!isRecord(files)) return "files must be an object of paths and contents.";
  for (const [path, content] of Object.entries(files)) {
    const named = JSON.stringify(path);
    if (!isSafePath(path)) return `files: ${named} is not a path below the skill's own folder.`;
    if (path === SKILL_FILE) return `files: ${SKILL_FILE} is written from the definition; leave it out.`;
    if (typeof content !== "string" && !(content instanceof Uint8Array)) {
      return `files: the content of ${named} must be a string or a Uint8Array.`;
    }
  }
  return undefined;
}

/** What is wrong with a definition, in a sentence; nothing when it makes a skill. */
export function findDefinitionFault(definition: unknown): string | undefined {
  if (!isRecord(definition)) return "the definition must be an object.";
  const unknown = unknownField(definition, FIELDS);
  if (unknown !== undefined) return `the definition received unknown field "${unknown}".`;
  const fault = findFieldFault(definition);
  if (fault !== undefined) return fault;
  if (!isNonEmptyString(definition.instructions)) return "instructions must be a non-empty string.";
  if (definition.allowedTools !== undefined && typeof definition.allowedTools !== "string") {
    return "allowedTools must be text.";
  }
  return filesFault(definition.files);
}

const defined = new WeakSet<object>();

/** Whether a value is a result of `defineSkill`: checked, and never to change. */
export function isDefinedSkill(value: unknown): value is SkillDefinition {
  return typeof value === "object" && value !== null && defined.has(value);
}

/** A copy of its own: bytes and maps that the author changes later do not change the skill. */
function freezeDefinition(definition: SkillDefinition): SkillDefinition {
  const { metadata, files } = definition;
  const copied = Object.entries(files ?? {}).map(
    ([path, content]) => [path, typeof content === "string" ? content : content.slice()] as const,
  );
  const frozen = Object.freeze({
    ...definition,
    ...(metadata && { metadata: Object.freeze({ ...metadata }) }),
    ...(files && { files: Object.freeze(Object.fromEntries(copied)) }),
  });
  defined.add(frozen);
  return frozen;
}

/**
 * Checks a skill and freezes it; throws `skill_definition_validation` at once, not when a conversation needs it. Give
 * the result to `useSkill`.
 *
 * @example
 * ```ts
 * const releaseNotes = defineSkill({
 *   name: "release-notes",
 *   description: "Write release notes from a list of commits. Use when a release is being prepared.",
 *   instructions: "Group the commits by what a user notices. Leave out what nobody sees. Template: template.md.",
 *   files: { "template.md": "## What is new\n\n## What was fixed\n" },
 * });
 * ```
 */
export function defineSkill(definition: SkillDefinition): SkillDefinition {
  const fault = findDefinitionFault(definition);
  if (fault === undefined) return freezeDefinition(definition);
  const name = isRecord(definition) && isNonEmptyString(definition.name) ? ` "${definition.name}"` : "";
  throw new BerthError("skill_definition_validation", `defineSkill()${name}: ${fault}`);
}
