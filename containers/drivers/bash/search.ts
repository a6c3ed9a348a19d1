/**
 * grep and glob over a tree of files, with just-bash's own grep as the engine: RE2, which takes linear time.
 *
 * The walk is ours, because just-bash's follows links into directories and skips names that begin with a dot. Every file
 * under the path is searched, hidden ones too, as with `grep -r`; links below the path are not followed by grep, and glob
 * lists links to files (D26). Sorted by path in byte order, then by line (D16).
 */
import type { IFileSystem } from "just-bash";
import { MAX_EXEC_OUTPUT_UNITS, MAX_GREP_LINE_UNITS } from "../../../durable-objects/protocol/limits.ts";
import { decodeText } from "../../decode-text.ts";
import { resolvePath } from "../../paths.ts";
import type { ExecResult, GlobQuery, GrepQuery, SandboxSearch } from "../../sandbox.ts";
import { compareNames } from "./compare-names.ts";
import { expandBraces, matchesName } from "./name-glob.ts";
import { SHELL_LIMITS } from "./shell-limits.ts";

/** The files to search, as they are when the search begins. */
export interface SearchTree {
  /** The entries of a directory, with what each is itself. */
  list(path: string): Promise<readonly { name: string; kind: string }[]>;
  /** `file` or `directory`, links followed; `undefined` where nothing is. */
  kindOf(path: string): Promise<string | undefined>;
  read(path: string): Promise<Uint8Array>;
}

interface Found {
  /** As printed. */
  label: string;
  path: string;
}

type Accept = (name: string, isLink: boolean) => boolean;

export function shellSearch(open: () => SearchTree): SandboxSearch {
  return {
    async grep(query) {
      const includes = query.include === undefined ? undefined : expandBraces(query.include);
      const tree = open();
      const found = await findFiles(
        tree,
        query,
        (name, isLink) => !isLink && (includes === undefined || includes.some((include) => matchesName(include, name))),
      );
      return found === undefined ? nothingThere("grep", query) : grepFiles(query, found, tree);
    },
    async glob(query: GlobQuery) {
      const found = await findFiles(open(), query, (name) => matchesName(query.pattern, name));
      return found === undefined ? nothingThere("find", query) : print(found.map(({ label }) => printable(label)));
    },
  };
}

function nothingThere(program: string, { path }: { path: string }): ExecResult {
  return { stdout: "", stderr: `${program}: ${path}: No such file or directory\n`, exitCode: 2 };
}

/** The regular files below the path whose name is accepted, or `undefined` where the path leads nowhere. */
async function findFiles(
  tree: SearchTree,
  query: { path: string; cwd: string; signal?: AbortSignal | undefined },
  accept: Accept,
): Promise<Found[] | undefined> {
  const label = query.path === "" ? "." : query.path;
  const top = resolvePath(query.cwd, label);
  const found: Found[] = [];
  const visit = async (path: string, shown: string): Promise<void> => {
    query.signal?.throwIfAborted();
    for (const { name, kind } of await tree.list(path)) {
      const child = {
        path: path === "/" ? `/${name}` : `${path}/${name}`,
        label: shown.endsWith("/") ? shown + name : `${shown}/${name}`,
      };
      if (kind === "directory") await visit(child.path, child.label);
      else if (accept(name, kind === "symlink") && (await tree.kindOf(child.path)) === "file") found.push(child);
    }
  };
  const kind = await tree.kindOf(top);
  if (kind === undefined) return undefined;
  if (kind === "directory") await visit(top, label);
  else if (accept(top.slice(top.lastIndexOf("/") + 1), false)) found.push({ path: top, label });
  return found.sort((a, b) => compareNames(a.label, b.label));
}

async function grepFiles(query: GrepQuery, found: readonly Found[], tree: SearchTree): Promise<ExecResult> {
  const { Bash } = await import("just-bash");
  const fs = numberedFiles(found, tree);
  const bash = new Bash({ fs, cwd: "/", executionLimits: SHELL_LIMITS, defenseInDepth: false });
  // The engine would print its help for this pattern, wherever it stands.
  const isHelp = query.pattern === "--help";
  const pattern = isHelp ? ["-E", "-e", "[-]-help"] : [query.literal ? "-F" : "-E", "-e", query.pattern];
  const paths = found.map((_, index) => `/${index}`);
  // The last argument names no file: it makes a search of one file print its name, and an empty search check the pattern.
  const args = ["-rn", ...pattern, ...paths, "/none"];
  const options = query.signal === undefined ? { args } : { args, signal: query.signal };
  const { stdout, stderr, exitCode } = await bash.exec("grep", options);
  query.signal?.throwIfAborted();
  const fault = stderr.split("\n").find((line) => line !== "" && !line.includes("/none"));
  if (fault !== undefined || exitCode > 2) return { stdout: "", stderr: fault ? `${fault}\n` : stderr, exitCode: 2 };
  return print(await labelMatches(stdout, found, tree));
}

/** `/3:7:text` of the engine as `src/a.ts:7:text`; the matches in a binary file as one line. */
async function labelMatches(stdout: string, found: readonly Found[], tree: SearchTree): Promise<string[]> {
  const lines: string[] = [];
  let last: { file: Found; isBinary: boolean } | undefined;
  for (const line of stdout.split("\n")) {
    const match = /^\/(\d+):(\d+):(.*)$/s.exec(line);
    const file = found[Number(match?.[1])];
    if (match === null || file === undefined) continue;
    const isFirst = last?.file !== file;
    if (last === undefined || isFirst) last = { file, isBinary: (await tree.read(file.path)).includes(0) };
    if (!last.isBinary) lines.push(`${printable(file.label)}:${match[2]}:${clip(match[3] ?? "")}`);
    else if (isFirst) lines.push(`${printable(file.label)}: binary file matches`);
  }
  return lines;
}

/** One flat directory with the found files by number, so that no name can be taken for an option, a glob or a separator. */
function numberedFiles(found: readonly Found[], tree: SearchTree): IFileSystem {
  const read = (path: string): Promise<Uint8Array> => tree.read(found[Number(path.slice(1))]?.path ?? path);
  const refuse = async (): Promise<never> => {
    throw new Error("EACCES: permission denied");
  };
  const statOf = async (path: string) => {
    const isFile = found[Number(path.slice(1) || "none")] !== undefined;
    if (!isFile && path !== "/") throw new Error(`ENOENT: no such file or directory, stat '${path}'`);
    const size = isFile ? (await read(path)).length : 0;
    return { isFile, isDirectory: !isFile, isSymbolicLink: false, mode: 0o644, size, mtime: new Date(0) };
  };
  return {
    readFile: async (path) => decodeText(await read(path)),
    readFileBuffer: read,
    exists: async (path) => found[Number(path.slice(1))] !== undefined,
    stat: statOf,
    lstat: statOf,
    readdir: async () => [],
    realpath: async (path) => path,
    resolvePath: (_base, path) => (path.startsWith("/") ? path : `/${path}`),
    getAllPaths: () => [],
    readlink: refuse,
    writeFile: refuse,
    appendFile: refuse,
    mkdir: refuse,
    rm: refuse,
    cp: refuse,
    mv: refuse,
    chmod: refuse,
    symlink: refuse,
    link: refuse,
    utimes: refuse,
  };
}

function print(lines: readonly string[]): ExecResult {
  let length = 0;
  const printed = lines.filter((line) => {
    length += line.length + 1;
    return length <= MAX_EXEC_OUTPUT_UNITS;
  });
  return { stdout: printed.map((line) => `${line}\n`).join(""), stderr: "", exitCode: lines.length > 0 ? 0 : 1 };
}

/** A name that would not survive being read line by line is quoted (D15). */
function printable(path: string): string {
  const name = path.slice(path.lastIndexOf("/") + 1);
  return path.includes("\n") || path !== path.trim() || name !== name.trim() ? JSON.stringify(path) : path;
}

/** Long enough for the tool to see that it must clip. */
function clip(text: string): string {
  return text.length > MAX_GREP_LINE_UNITS + 1 ? text.slice(0, MAX_GREP_LINE_UNITS + 1).toWellFormed() : text;
}
