/**
 * Finds the skills of a workspace: `.agents/skills/<name>/SKILL.md` below the working directory, one level deep, no links
 * followed. Only the head of each file is read, to the end of its front matter.
 *
 * Nothing in a workspace is fatal: what is no skill is skipped, with the reason.
 *
 * Source: contract RUNTIME 5 ("Discovery"), 8.
 */
import type { Sandbox } from "../../containers/sandbox.ts";
import { shellQuote } from "../../containers/shell-quote.ts";
import {
  MAX_SKILL_HEAD_BYTES,
  MAX_SKILL_HEADS_UNITS,
  MAX_WHOLE_INSTRUCTION_FILE_BYTES,
  MAX_WORKSPACE_SKILLS,
} from "../protocol/limits.ts";
import { parseSkill } from "../skills/parse-skill.ts";
import { SKILL_FILE, type WorkspaceSkill } from "../skills/skill.ts";

const FOLDER = ".agents/skills";

/** One byte more than is looked at shows that there was more. */
const PROBE_BYTES = MAX_SKILL_HEAD_BYTES + 1;

export interface SkippedSkill {
  /** Relative to the working directory. */
  path: string;
  /** A sentence. */
  reason: string;
}

export interface DiscoveredSkills {
  /** By name. */
  skills: WorkspaceSkill[];
  skippedSkills: SkippedSkill[];
}

/** Why a file was not looked into. */
const OBSTACLES = {
  link: "it is or lies behind a symbolic link, which is not followed.",
  odd: "it is not a regular file.",
  closed: "it cannot be read.",
} as const;

/** A folder with something called `SKILL.md` in it: its head, or what is in the way. */
interface Candidate {
  folder: string;
  head: Uint8Array | keyof typeof OBSTACLES;
}

interface Listing {
  candidates: Candidate[];
  /** How many more there are. */
  omitted: number;
}

/**
 * Prints one line: a token `<kind>,<folder>,<head>` for each candidate, and `more,<count>,` for those behind the limits.
 * The head is base64; a folder that cannot be a skill's name is `+` and base64. Plain POSIX with few processes a skill:
 * the last `printf` joins the lines of the head, and the pattern sorts by bytes.
 */
export const SKILL_SCRIPT = `export LC_ALL=C
cr=$(printf '\\r')
listed=0 more=0 room=${MAX_SKILL_HEADS_UNITS}
if [ -L .agents ] || [ -L ${FOLDER} ]; then
  printf 'link,, '
else
  for dir in ${FOLDER}/*/; do
    dir=\${dir%/}
    file=$dir/${SKILL_FILE}
    if [ ! -e "$file" ] && [ ! -L "$file" ]; then continue; fi
    if [ $listed -ge ${MAX_WORKSPACE_SKILLS} ] || [ $room -le 0 ]; then more=$((more + 1)); continue; fi
    listed=$((listed + 1))
    kind=head head=
    if [ -L "$dir" ] || [ -L "$file" ]; then kind=link
    elif [ ! -f "$file" ]; then kind=odd
    elif [ ! -r "$file" ]; then kind=closed
    else
      head=$(head -c ${PROBE_BYTES} "$file" | sed -e '1!{' -e "/^---[[:blank:]]*$cr\\{0,1\\}\\$/q" -e '}' | base64)
      room=$((room - \${#head}))
    fi
    name=\${dir##*/}
    case $name in *[!a-z0-9-]*) name=+$(printf %s "$name" | base64 | tr -d '\\n');; esac
    printf '%s,%s,' $kind $name
    printf %s $head ' '
  done
fi
printf 'more,%s,\\n' $more`;

function decodeBase64(text: string): Uint8Array {
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
}

function parseToken(token: string): Candidate | undefined {
  const [kind = "", folder = "", head = ""] = token.split(",");
  const name = folder.startsWith("+") ? new TextDecoder().decode(decodeBase64(folder.slice(1))) : folder;
  if (kind === "head") return { folder: name, head: decodeBase64(head) };
  return Object.hasOwn(OBSTACLES, kind) ? { folder: name, head: kind as keyof typeof OBSTACLES } : undefined;
}

function parseListing(line: string): Listing {
  const tokens = line.split(" ").filter((token) => token !== "");
  const isCount = (token: string) => token.startsWith("more,");
  const more = tokens.find(isCount)?.split(",")[1];
  try {
    const found = tokens.filter((token) => !isCount(token));
    const candidates = found.map(parseToken).filter((candidate) => candidate !== undefined);
    return { candidates, omitted: Number(more) || 0 };
  } catch {
    // A shell that lacks one of the programs gives no answer that can be read.
    return { candidates: [], omitted: 0 };
  }
}

/** What `SKILL_SCRIPT` printed, as skills. */
export function parseSkillLine(sandbox: Sandbox, line: string): DiscoveredSkills {
  return sortCandidates(sandbox, parseListing(line));
}

async function readHead(sandbox: Sandbox, path: string, size: number): Promise<Candidate["head"]> {
  if (size <= MAX_WHOLE_INSTRUCTION_FILE_BYTES || typeof sandbox.exec !== "function") {
    return (await sandbox.readFileBuffer(path)).subarray(0, PROBE_BYTES);
  }
  const command = `head -c ${PROBE_BYTES} ${shellQuote(path)} | base64`;
  const { stdout, exitCode } = await sandbox.exec(command, { cwd: sandbox.cwd });
  return exitCode === 0 ? decodeBase64(stdout.replaceAll(/\s/g, "")) : "closed";
}

async function readCandidate(sandbox: Sandbox, folder: string): Promise<Candidate | undefined> {
  const directory = sandbox.resolvePath(`${FOLDER}/${folder}`);
  const stat = await sandbox.stat(directory);
  if (!stat.isDirectory || !(await sandbox.readdir(directory)).includes(SKILL_FILE)) return undefined;
  if (stat.isSymbolicLink) return { folder, head: "link" };
  const path = `${directory}/${SKILL_FILE}`;
  const file = await sandbox.stat(path);
  if (file.isSymbolicLink) return { folder, head: "link" };
  if (!file.isFile) return { folder, head: "odd" };
  return { folder, head: await readHead(sandbox, path, file.size ?? 0) };
}

async function listByVerbs(sandbox: Sandbox): Promise<Listing> {
  for (const path of [".agents", FOLDER]) {
    const stat = await sandbox.stat(sandbox.resolvePath(path)).catch(() => undefined);
    if (!stat?.isDirectory) return { candidates: [], omitted: 0 };
    if (stat.isSymbolicLink) return { candidates: [{ folder: "", head: "link" }], omitted: 0 };
  }
  const names = await sandbox.readdir(sandbox.resolvePath(FOLDER)).catch(() => []);
  const candidates: Candidate[] = [];
  let omitted = 0;
  for (const folder of names.filter((name) => !name.startsWith(".")).sort()) {
    if (candidates.length >= MAX_WORKSPACE_SKILLS) {
      omitted++;
      continue;
    }
    const candidate = await readCandidate(sandbox, folder).catch((): Candidate => ({ folder, head: "closed" }));
    if (candidate) candidates.push(candidate);
  }
  return { candidates, omitted };
}

/** The same by file verbs, where those answer inside the object. */
export async function discoverSkillsByVerbs(sandbox: Sandbox): Promise<DiscoveredSkills> {
  return sortCandidates(sandbox, await listByVerbs(sandbox));
}

function pathOf(folder: string): string {
  return folder === "" ? FOLDER : `${FOLDER}/${folder}/${SKILL_FILE}`;
}

function parseHead(head: Uint8Array, folder: string): { name: string; description: string } {
  const isCut = head.byteLength > MAX_SKILL_HEAD_BYTES;
  const text = new TextDecoder("utf-8", { fatal: false, ignoreBOM: true }).decode(head);
  try {
    return parseSkill(text, folder);
  } catch (error) {
    if (!isCut) throw error;
    throw new Error(`its front matter does not end within ${MAX_SKILL_HEAD_BYTES} bytes, or is malformed.`);
  }
}

function sortCandidates(sandbox: Sandbox, { candidates, omitted }: Listing): DiscoveredSkills {
  const skills: WorkspaceSkill[] = [];
  const skippedSkills: SkippedSkill[] = [];
  for (const { folder, head } of candidates) {
    const skip = (reason: string) => skippedSkills.push({ path: pathOf(folder), reason });
    if (typeof head === "string") {
      skip(OBSTACLES[head]);
      continue;
    }
    try {
      const { name, description } = parseHead(head, folder);
      skills.push({ name, description, directory: sandbox.resolvePath(`${FOLDER}/${folder}`) });
    } catch (error) {
      skip(error instanceof Error ? error.message : String(error));
    }
  }
  if (omitted > 0) {
    const reason = `${omitted} more folders are left out: ${candidates.length} were looked at.`;
    skippedSkills.push({ path: FOLDER, reason });
  }
  return { skills, skippedSkills };
}
