/**
 * Reads a `SKILL.md`: front matter that names and describes the skill, and the instructions behind it.
 *
 * Fields nobody knows are passed over, `allowed-tools` too: it is accepted and enforces nothing.
 *
 * Source: contract RUNTIME 8.
 */
import { parseFrontMatter } from "./front-matter.ts";
import { findFieldFault, foldDescription } from "./skill-fields.ts";

export interface ParsedSkill {
  name: string;
  /** One line. */
  description: string;
  /** Trimmed. */
  instructions: string;
}

/** A field without a value (`license:`) counts as absent, a map as an object. */
function fieldOf(fields: ReadonlyMap<string, unknown>, name: string): unknown {
  const value = fields.get(name);
  if (value === "" || value === null) return undefined;
  return value instanceof Map ? Object.fromEntries(value) : value;
}

/**
 * Throws a sentence that says what is wrong; the caller puts the file's name before it.
 *
 * @param folder the name of the skill's directory, which must be the skill's own.
 */
export function parseSkill(text: string, folder: string): ParsedSkill {
  const { fields, body } = parseFrontMatter(text);
  const read = (name: string) => fieldOf(fields, name);
  const required = { name: read("name"), description: read("description") };
  const optional = { license: read("license"), compatibility: read("compatibility"), metadata: read("metadata") };
  const fault = findFieldFault({ ...required, ...optional });
  if (fault !== undefined) throw new Error(fault);
  // Without a fault both are text.
  const { name, description } = required as { name: string; description: string };
  if (name !== folder) {
    throw new Error(`name ${JSON.stringify(name)} is not the name of its folder, ${JSON.stringify(folder)}.`);
  }
  return { name, description: foldDescription(description), instructions: body.trim() };
}
