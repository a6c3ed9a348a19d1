/**
 * The paths under which the files of packaged skills are shown: readable by name, never written.
 *
 * A path is compared literally. In the advertised spelling the skill's id is percent-encoded and the file's own path is
 * not; the plain id is understood too.
 *
 * Source: contract TOOLS 11.5, 14.3.
 */
import type { PackagedSkill } from "./skill.ts";

export const PACKAGED_SKILLS_PREFIX = "/.flue/packaged-skills/";

/** As a model is told it. */
export function packagedPath(skill: PackagedSkill, file: string): string {
  return `${PACKAGED_SKILLS_PREFIX}${encodeURIComponent(skill.id)}/${file}`;
}

const BASE64_COLUMNS = /.{1,76}/g;

/** The text of a file of one of the skills: without a byte order mark, base64 for what is no text. */
export function readPackagedFile(skills: readonly PackagedSkill[], path: string): string {
  for (const skill of skills) {
    for (const id of [encodeURIComponent(skill.id), skill.id]) {
      const start = `${PACKAGED_SKILLS_PREFIX}${id}/`;
      const file = path.startsWith(start) ? skill.files.get(path.slice(start.length)) : undefined;
      if (file?.encoding === "text") return file.content.replace(/^\uFEFF/, "");
      if (file) return file.content.match(BASE64_COLUMNS)?.join("\n") ?? "";
    }
  }
  throw new Error(`[flue] Packaged skill file not found: ${path}`);
}
