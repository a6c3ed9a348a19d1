/**
 * Packs the folders of `worker/skills/` into `.berth/packaged-skills.json`, which the Worker is built with.
 *
 * Every npm command runs it first, `npm install` too; `npm start` also whenever a skill changes. It is no `[build]` of
 * wrangler's: with one, `wrangler dev` builds a second time at every start, watches whole folders, and cuts requests off
 * when it reloads. The file is written only when it changes. Whatever looks like a credential is refused, not left out: a skill's files are
 * for the model's eyes. Plain JavaScript without dependencies: it runs before anything is installed. What a `SKILL.md`
 * says is checked by the engine, which has a YAML parser; here only that it names its folder.
 *
 * Source: contract RUNTIME 8.
 */
import fs from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

const here = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "../..");

const SKILLS_FOLDER = "worker/skills";
const OUTPUT = ".berth/packaged-skills.json";
const SKILL_FILE = "SKILL.md";

const LARGE_SKILL_BYTES = 1024 * 1024;
const SKILL_NAME = /^(?=.{1,64}$)[a-z0-9]+(?:-[a-z0-9]+)*$/;
const FRONT_MATTER = /^\uFEFF?---[ \t]*\r?\n(?:(.*?)\n)?---[ \t]*\r?(?:\n|$)/s;
const NAME_FIELD = /^name:[ \t]*(["']?)(.*?)\1[ \t]*(?:#.*)?\r?$/m;

const DESCRIPTION_FIELD = /^description:[ \t]*(?:\S|\r?\n[ \t]+\S)/m;

/** Folders and files that tools leave behind: no part of a skill. */
const NOISE = [".git", ".hg", ".svn", "node_modules", "dist", "__pycache__", ".DS_Store", "Thumbs.db"];

/** Names under which credentials lie. */
const CREDENTIAL_NAMES = [
  /^\.env/,
  /^\.dev\.vars/,
  /\.(?:pem|key|p12|pfx|jks|keystore|kdbx|ppk)$/,
  /^id_(?:rsa|dsa|ecdsa|ed25519)/,
  /^\.(?:npmrc|netrc|pypirc|pgpass|git-credentials|htpasswd|dockercfg|vault-token)$/,
  /^_netrc$/,
  /^\.(?:ssh|aws|gnupg|azure|docker|kube)$/,
  /^(?:application_default_)?credentials(?:\.json|\.db)?$/,
];
const PRIVATE_KEY = /^-----BEGIN [A-Z0-9 ]*PRIVATE KEY/m;

/**
 * @typedef {{ encoding: "text" | "base64", content: string }} PackedFile
 * @typedef {Record<string, Record<string, PackedFile>>} PackedFolders
 * @typedef {{ faults: string[], warnings: string[] }} Findings
 */

/** Text is what is valid UTF-8 without a NUL byte. @param {Uint8Array} bytes @returns {PackedFile} */
function packFile(bytes) {
  try {
    const content = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    if (!content.includes("\0")) return { encoding: "text", content };
  } catch {
    // Not UTF-8.
  }
  return { encoding: "base64", content: Buffer.from(bytes).toString("base64") };
}

/** Why an entry may not be packed. @param {import("node:fs").Dirent} entry */
function refusalOf(entry) {
  const name = entry.name.toLowerCase();
  if (entry.isSymbolicLink()) return "is a symbolic link; put the file itself there";
  if (CREDENTIAL_NAMES.some((pattern) => pattern.test(name))) return "looks like a credential; keep it out of skills";
  if (/[\u0000-\u001f\u007f\\]/.test(entry.name)) return "has a name with a control character or a backslash";
  if (!entry.isFile() && !entry.isDirectory()) return "is neither a file nor a folder";
  return undefined;
}

/** @param {string} folder @returns {import("node:fs").Dirent[]} by name, noise left out */
function listFolder(folder) {
  const entries = fs.readdirSync(folder, { withFileTypes: true }).filter((entry) => !NOISE.includes(entry.name));
  return entries.sort((a, b) => (a.name < b.name ? -1 : 1));
}

/**
 * @param {string} root
 * @param {string} folder relative to the root
 * @param {string} prefix of the paths inside the skill
 * @param {Findings} findings
 * @returns {[string, Uint8Array][]}
 */
function readFolder(root, folder, prefix, findings) {
  return listFolder(path.join(root, folder)).flatMap((entry) => {
    const file = `${folder}/${entry.name}`;
    const refusal = refusalOf(entry);
    if (refusal !== undefined) {
      findings.faults.push(`${file} ${refusal}.`);
      return [];
    }
    const inner = `${prefix}${entry.name}`;
    if (entry.isDirectory()) return readFolder(root, file, `${inner}/`, findings);
    const bytes = fs.readFileSync(path.join(root, file));
    if (PRIVATE_KEY.test(Buffer.from(bytes).toString("latin1"))) findings.faults.push(`${file} holds a private key.`);
    return [[inner, bytes]];
  });
}

/** What is wrong with the front matter as far as it is read here. @param {string} file @param {string} name @param {string} text */
function frontMatterFault(file, name, text) {
  const frontMatter = FRONT_MATTER.exec(text);
  if (!frontMatter) return `${file} does not begin with front matter between two lines \`---\`.`;
  const given = NAME_FIELD.exec(frontMatter[1] ?? "")?.[2];
  if (given === undefined) return `${file} has no \`name:\` in its front matter.`;
  if (given === name) {
    const hasDescription = DESCRIPTION_FIELD.test(frontMatter[1] ?? "");
    return hasDescription ? undefined : `${file} has no \`description:\` in its front matter.`;
  }
  return `${file} names itself "${given}", but its folder is "${name}".`;
}

/** @param {string} root @param {string} name @param {Findings} findings */
function packFolder(root, name, findings) {
  const folder = `${SKILLS_FOLDER}/${name}`;
  if (!SKILL_NAME.test(name)) {
    findings.faults.push(
      `${folder} is no name of a skill: lowercase letters, digits and single hyphens, at most 64 characters.`,
    );
  }
  const files = readFolder(root, folder, "", findings);
  const main = files.find(([file]) => file === SKILL_FILE);
  const fault = main
    ? frontMatterFault(`${folder}/${SKILL_FILE}`, name, new TextDecoder().decode(main[1]))
    : `${folder} has no ${SKILL_FILE}.`;
  if (fault !== undefined) findings.faults.push(fault);
  const bytes = files.reduce((sum, [, content]) => sum + content.byteLength, 0);
  if (bytes > LARGE_SKILL_BYTES) {
    const size = (bytes / LARGE_SKILL_BYTES).toFixed(1);
    findings.warnings.push(`${folder} is ${size} MiB, and all of it becomes part of the Worker.`);
  }
  return Object.fromEntries(files.map(([file, content]) => [file, packFile(content)]));
}

/** @param {string} root @param {Findings} findings @returns {PackedFolders} */
function readSkills(root, findings) {
  const stat = fs.lstatSync(path.join(root, SKILLS_FOLDER), { throwIfNoEntry: false });
  if (stat?.isSymbolicLink()) findings.faults.push(`${SKILLS_FOLDER} is a symbolic link.`);
  if (!stat?.isDirectory()) return {};
  const folders = listFolder(path.join(root, SKILLS_FOLDER)).filter((entry) => {
    if (entry.isSymbolicLink()) findings.faults.push(`${SKILLS_FOLDER}/${entry.name} is a symbolic link.`);
    // A file beside the folders, a README say, belongs to no skill.
    return entry.isDirectory();
  });
  return Object.fromEntries(folders.map(({ name }) => [name, packFolder(root, name, findings)]));
}

/** Whole or not at all: several processes may read it and write it at once. @param {string} file @param {string} text */
function writeWhole(file, text) {
  fs.mkdirSync(path.dirname(file), { recursive: true });
  const draft = `${file}.${process.pid}`;
  fs.writeFileSync(draft, text);
  fs.renameSync(draft, file);
}

/** @param {string} file */
function readText(file) {
  try {
    return fs.readFileSync(file, "utf8");
  } catch {
    return undefined;
  }
}

/**
 * Writes the packed skills and gives what a person should know of. Throws, and writes nothing, when a skill may not be
 * packed; every such file is named.
 *
 * @param {string} [root] the project's folder
 */
export function packSkills(root = here) {
  /** @type {Findings} */
  const findings = { faults: [], warnings: [] };
  const folders = readSkills(root, findings);
  if (findings.faults.length > 0) {
    throw new Error(`skills cannot be packed:\n${findings.faults.map((fault) => `  ${fault}`).join("\n")}`);
  }
  const output = path.join(root, OUTPUT);
  const text = `${JSON.stringify(folders, null, 1)}\n`;
  const isChanged = readText(output) !== text;
  if (isChanged) writeWhole(output, text);
  return { isChanged, names: Object.keys(folders), warnings: findings.warnings };
}

/** For command lines: warnings go to the standard error. @param {string} [root] */
export function packSkillsAloud(root = here) {
  for (const warning of packSkills(root).warnings) console.error(`berth: ${warning}`);
}

if (process.argv[1] && path.resolve(process.argv[1]) === fileURLToPath(import.meta.url)) {
  try {
    packSkillsAloud();
  } catch (error) {
    console.error(`berth: ${error instanceof Error ? error.message : String(error)}`);
    process.exitCode = 1;
  }
}
