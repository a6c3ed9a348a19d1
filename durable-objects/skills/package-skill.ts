/**
 * Makes a packaged skill of its files. Done once a skill, at load: what is made is frozen and shared by every render.
 *
 * Source: contract RUNTIME 8, TOOLS 14.3.
 */
import { createHash } from "node:crypto";
import { parseSkill } from "./parse-skill.ts";
import { type PackagedSkill, SKILL_FILE, type SkillFile } from "./skill.ts";

const ID_HEX_DIGITS = 16;

const packaged = new WeakSet<object>();

/** Whether a value came from here: what an author passes for a skill may be anything. */
export function isPackagedSkill(value: unknown): value is PackagedSkill {
  return typeof value === "object" && value !== null && packaged.has(value);
}

function bytesOf({ encoding, content }: SkillFile): Buffer {
  return Buffer.from(content, encoding === "text" ? "utf8" : "base64");
}

/** The same files give the same id, in whatever order they come. */
function hashFiles(files: ReadonlyMap<string, SkillFile>): string {
  const hash = createHash("sha256");
  const sorted = [...files].sort(([a], [b]) => (a < b ? -1 : 1));
  for (const [path, file] of sorted) {
    const bytes = bytesOf(file);
    hash.update(`${path}\0${bytes.byteLength}\0`).update(bytes);
  }
  return hash.digest("hex").slice(0, ID_HEX_DIGITS);
}

/** Throws a sentence that says what is wrong with `SKILL.md`. */
export function packageSkill(name: string, files: ReadonlyMap<string, SkillFile>): PackagedSkill {
  const main = files.get(SKILL_FILE);
  if (!main) throw new Error(`there is no ${SKILL_FILE}.`);
  if (main.encoding !== "text") throw new Error(`${SKILL_FILE} is not UTF-8 text.`);
  const parsed = parseSkill(main.content, name);
  let id: string | undefined;
  const skill: PackagedSkill = Object.freeze({
    ...parsed,
    files,
    // Asked for only by those who name a file of the skill, and files may be large.
    get id() {
      id ??= `skill:${name}:${hashFiles(files)}`;
      return id;
    },
  });
  packaged.add(skill);
  return skill;
}
