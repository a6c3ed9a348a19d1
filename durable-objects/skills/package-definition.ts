/**
 * Makes a packaged skill of one that was defined in code, with the `SKILL.md` such a folder would have.
 *
 * Source: contract RUNTIME 8.
 */
import { packageSkill } from "./package-skill.ts";
import { type PackagedSkill, SKILL_FILE, type SkillFile } from "./skill.ts";

/** A skill as an author writes it in code; the same as a folder with these files. */
export interface SkillDefinition {
  /** Lowercase letters, digits and single hyphens, at most 64 characters. */
  readonly name: string;
  /** The catalogue line: what it does and when to use it. At most 1024 characters. */
  readonly description: string;
  /** Markdown, loaded when the skill is activated. */
  readonly instructions: string;
  readonly license?: string;
  readonly compatibility?: string;
  readonly metadata?: Readonly<Record<string, string>>;
  /** Accepted, not enforced. */
  readonly allowedTools?: string;
  /** Further files, by path relative to the skill. */
  readonly files?: Readonly<Record<string, string | Uint8Array>>;
}

/** JSON text is a quoted YAML scalar, or a map of such. */
function renderSkillFile(definition: SkillDefinition): string {
  const { name, description, license, compatibility, metadata, allowedTools, instructions } = definition;
  const fields = { name, description, license, compatibility, metadata, "allowed-tools": allowedTools };
  const lines = Object.entries(fields).flatMap(([key, value]) =>
    value === undefined ? [] : [`${key}: ${JSON.stringify(value)}`],
  );
  return `---\n${lines.join("\n")}\n---\n${instructions}\n`;
}

/** Text is what is valid UTF-8 without a NUL byte. */
function fileOf(content: string | Uint8Array): SkillFile {
  if (typeof content === "string") return { encoding: "text", content: content.toWellFormed() };
  try {
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(content);
    if (!text.includes("\0")) return { encoding: "text", content: text };
  } catch {
    // Not UTF-8.
  }
  return { encoding: "base64", content: Buffer.from(content).toString("base64") };
}

/** For a definition that was checked. */
export function packageDefinition(definition: SkillDefinition): PackagedSkill {
  const main: SkillFile = { encoding: "text", content: renderSkillFile(definition).toWellFormed() };
  const others = Object.entries(definition.files ?? {}).map(([path, content]) => [path, fileOf(content)] as const);
  return packageSkill(definition.name, new Map([[SKILL_FILE, main], ...others]));
}
