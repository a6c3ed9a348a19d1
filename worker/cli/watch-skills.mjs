/**
 * Packs the skills again when one of their files changes, for as long as a development server runs: the packed file is
 * part of what it bundled, so it reloads by itself.
 */
import fs from "node:fs";
import path from "node:path";
import { packSkillsAloud } from "./pack-skills.mjs";

/** An editor writes a file in several steps. */
const QUIET_MS = 100;

/** What cannot be packed is told; the skills stay as they were packed last. @param {string} root the project's folder */
export function watchSkills(root) {
  const folder = path.join(root, "worker/skills");
  if (!fs.existsSync(folder)) return;
  /** @type {NodeJS.Timeout | undefined} */
  let quiet;
  const packAgain = () => {
    try {
      packSkillsAloud(root);
    } catch (error) {
      console.error(`berth: ${error instanceof Error ? error.message : String(error)}`);
    }
  };
  fs.watch(folder, { recursive: true, persistent: false }, () => {
    clearTimeout(quiet);
    quiet = setTimeout(packAgain, QUIET_MS).unref();
  });
}
