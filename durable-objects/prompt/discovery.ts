/**
 * Finds out what the prompt says about a workspace: its guide, its skills and what lies in it.
 *
 * One round trip where there is a shell far away: a command that prints both, cut inside the sandbox. Where the file
 * verbs answer inside the object (`localFiles`), they are asked instead: starting a shell there costs more than the
 * answer. Nothing in a workspace is fatal (a huge guide, a guide that is no text, a directory that is not there); only a
 * sandbox that fails is.
 *
 * Source: contract RUNTIME 5 (sections 2, 7, 8 and "Discovery").
 */
import type { Sandbox } from "../../containers/sandbox.ts";
import {
  MAX_INSTRUCTION_FILE_BYTES,
  MAX_LISTED_ENTRIES,
  MAX_WHOLE_INSTRUCTION_FILE_BYTES,
} from "../protocol/limits.ts";
import type { Workspace } from "./section.ts";
import { type DiscoveredSkills, discoverSkillsByVerbs, parseSkillLine, SKILL_SCRIPT } from "./skill-discovery.ts";

const GUIDES = ["AGENTS.md", "CLAUDE.md"] as const;
const BYTES_PER_KIB = 1024;

/** One byte more than is kept shows that there was more. */
const PROBE_BYTES = MAX_INSTRUCTION_FILE_BYTES + 1;

/**
 * Prints the guide's name and its first bytes in base64 on two lines (empty lines without one), the skills on one, how
 * many names there are, and the first of the sorted names, the newlines in them as `LINE_END`. Plain POSIX; a shell without
 * one of the programs gives an empty answer.
 */
const SCRIPT = `guide=
for name in ${GUIDES.join(" ")}; do
  if [ -f "$name" ] && [ -r "$name" ]; then guide=$name; break; fi
done
printf '%s\\n' "$guide"
if [ -n "$guide" ]; then head -c ${PROBE_BYTES} "$guide" | base64 | tr -d '\\n'; fi
printf '\\n'
${SKILL_SCRIPT}
list() { find . ! -name . -prune "$@" -print0 | tr '\\012\\000' '\\001\\012' | cut -c3-; }
list | wc -l
{ list -type d | sed 's,$,/,'; list ! -type d; } | sort | head -n ${MAX_LISTED_ENTRIES}`;

/** Stands for a newline in a name. */
const LINE_END = "\u0001";

/** Whole characters of at most `max` bytes. */
function decodeHead(bytes: Uint8Array, max: number): string {
  if (bytes.length <= max) return new TextDecoder().decode(bytes);
  // `stream` keeps a character that the cut has halved out of the text.
  return new TextDecoder().decode(bytes.subarray(0, max), { stream: true });
}

function renderGuide(name: string, bytes: Uint8Array): string {
  const text = decodeHead(bytes, MAX_INSTRUCTION_FILE_BYTES).replaceAll("\0", "").trim();
  if (bytes.length <= MAX_INSTRUCTION_FILE_BYTES) return text;
  return `${text}\n\n[${name} is longer than ${MAX_INSTRUCTION_FILE_BYTES / BYTES_PER_KIB} KiB and is cut here.]`;
}

/** Byte order, as `LC_ALL=C sort` has it. */
function compareBytes(a: string, b: string): number {
  const encoder = new TextEncoder();
  const left = encoder.encode(a);
  const right = encoder.encode(b);
  for (let at = 0; at < Math.min(left.length, right.length); at++) {
    const difference = (left[at] ?? 0) - (right[at] ?? 0);
    if (difference !== 0) return difference;
  }
  return left.length - right.length;
}

/** A name that would begin a line of its own stands quoted. */
function quoteName(name: string): string {
  return /[\u0000-\u001f\u007f]/.test(name) ? JSON.stringify(name) : name;
}

interface Names {
  entries: string[];
  total: number;
}

function createWorkspace(
  cwd: string,
  guide: string | undefined,
  skills: DiscoveredSkills,
  { entries, total }: Names,
): Workspace {
  const workspace: Workspace = { cwd, ...skills, entries, omitted: Math.max(0, total - entries.length) };
  if (guide !== undefined && guide !== "") workspace.guide = guide;
  return workspace;
}

function decodeBase64(text: string): Uint8Array {
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
}

async function discoverByCommand(sandbox: Sandbox): Promise<Workspace> {
  const result = await sandbox.exec(SCRIPT, { cwd: sandbox.cwd });
  const [name = "", encoded = "", skills = "", count = "", ...names] = result.stdout.split("\n");
  const guide = name === "" || encoded === "" ? undefined : renderGuide(name, decodeBase64(encoded));
  const entries = names.filter((entry) => entry !== "").map(renderPrinted);
  const found = parseSkillLine(sandbox, skills);
  const total = Number(count) || entries.length;
  return createWorkspace(sandbox.cwd, guide, found, { entries: entries.sort(compareBytes), total });
}

function renderPrinted(printed: string): string {
  const [, name = "", slash = ""] = /^(.*?)(\/?)$/.exec(printed) ?? [];
  return quoteName(name.replaceAll(LINE_END, "\n")) + slash;
}

/** The head of a file too large to hold; `undefined` where there is no command for it. */
async function readHeadByCommand(sandbox: Sandbox, name: string): Promise<Uint8Array | undefined> {
  if (typeof sandbox.exec !== "function") return undefined;
  const result = await sandbox.exec(`head -c ${PROBE_BYTES} ${name} | base64`, { cwd: sandbox.cwd });
  return result.exitCode === 0 ? decodeBase64(result.stdout.replaceAll(/\s/g, "")) : undefined;
}

/** `undefined` when the name is no file: the next one has its turn. */
async function readGuideFile(sandbox: Sandbox, name: string): Promise<string | undefined> {
  const path = sandbox.resolvePath(name);
  const stat = await sandbox.stat(path);
  if (!stat.isFile) return undefined;
  if ((stat.size ?? 0) <= MAX_WHOLE_INSTRUCTION_FILE_BYTES)
    return renderGuide(name, await sandbox.readFileBuffer(path));
  const head = await readHeadByCommand(sandbox, name);
  return head === undefined ? `[${name} is too large to be shown.]` : renderGuide(name, head);
}

async function discoverGuide(sandbox: Sandbox, names: readonly string[]): Promise<string | undefined> {
  for (const name of GUIDES) {
    if (!names.includes(name)) continue;
    try {
      const guide = await readGuideFile(sandbox, name);
      if (guide !== undefined) return guide;
    } catch {
      // A guide that cannot be read (a broken link, a missing right) counts as none.
    }
  }
  return undefined;
}

async function renderEntry(sandbox: Sandbox, name: string): Promise<string> {
  const isDirectory = await sandbox.stat(sandbox.resolvePath(name)).then(
    (stat) => stat.isDirectory && stat.isSymbolicLink !== true,
    () => false,
  );
  return quoteName(name) + (isDirectory ? "/" : "");
}

async function discoverByVerbs(sandbox: Sandbox): Promise<Workspace> {
  const names = await sandbox.readdir(sandbox.cwd).catch(() => []);
  const guide = await discoverGuide(sandbox, names);
  const first = [...names].sort(compareBytes).slice(0, MAX_LISTED_ENTRIES);
  const entries = await Promise.all(first.map((name) => renderEntry(sandbox, name)));
  const skills = await discoverSkillsByVerbs(sandbox);
  return createWorkspace(sandbox.cwd, guide, skills, { entries: entries.sort(compareBytes), total: names.length });
}

/** Rejects only when the sandbox itself fails. */
export function discoverWorkspace(sandbox: Sandbox): Promise<Workspace> {
  // A driver with search verbs of its own runs in the object (TOOLS 15, D15).
  const isLocal = sandbox.localFiles ?? sandbox.search !== undefined;
  return isLocal || typeof sandbox.exec !== "function" ? discoverByVerbs(sandbox) : discoverByCommand(sandbox);
}
