/**
 * grep and glob over the last commit, with just-bash's own grep as the engine: RE2, which takes linear time.
 *
 * The walk is ours, because just-bash's follows links into directories and skips names that begin with a dot. Every file
 * under the path is searched, hidden ones too, as with `grep -r`; links below the path are not followed by grep, and glob
 * lists links to files (D26). Sorted by path in byte order, then by line (D16).
 */
import type { IFileSystem } from "just-bash";
import { MAX_EXEC_OUTPUT_UNITS, MAX_GREP_LINE_UNITS } from "../../../durable-objects/protocol/limits.ts";
import { decodeText } from "../../decode-text.ts";
import type { FileStore } from "../../file-store.ts";
import type { ExecResult, GlobQuery, GrepQuery, SandboxSearch } from "../../sandbox.ts";
import { join, readDirectory, readFile, stat } from "./file-operations.ts";
import { expandBraces, matchesName } from "./name-glob.ts";
import { resolveLexically } from "./path-walk.ts";
import { SHELL_LIMITS } from "./shell.ts";
import { compareNames, StagedFiles } from "./staged-files.ts";

interface Found {
  /** As printed. */
  label: string;
  path: string;
}

export function virtualSearch(store: FileStore): SandboxSearch {
  const find = (
    query: { path: string; cwd: string },
    program: string,
    accept: (name: string, isLink: boolean) => boolean,
  ): { found: Found[]; view: StagedFiles } | ExecResult => {
    const view = new StagedFiles(store, () => 0);
    const top = resolveLexically(query.cwd, query.path === "" ? "." : query.path);
    const found: Found[] = [];
    const visit = (path: string, label: string): void => {
      for (const { name, kind } of readDirectory(view, path)) {
        const child = { path: join(path, name), label: label.endsWith("/") ? label + name : `${label}/${name}` };
        if (kind === "directory") visit(child.path, child.label);
        else if (accept(name, kind === "symlink") && isRegularFile(view, child.path)) found.push(child);
      }
    };
    try {
      const label = query.path === "" ? "." : query.path;
      if (stat(view, top).kind === "directory") visit(top, label);
      else if (accept(top.slice(top.lastIndexOf("/") + 1), false)) found.push({ path: top, label });
    } catch {
      return { stdout: "", stderr: `${program}: ${query.path}: No such file or directory\n`, exitCode: 2 };
    }
    return { found: found.sort((a, b) => compareNames(a.label, b.label)), view };
  };

  return {
    async grep(query) {
      const includes = query.include === undefined ? undefined : expandBraces(query.include);
      const answer = find(
        query,
        "grep",
        (name, isLink) => !isLink && (includes === undefined || includes.some((include) => matchesName(include, name))),
      );
      return "exitCode" in answer ? answer : grepFiles(query, answer.found, answer.view);
    },
    async glob(query: GlobQuery) {
      const answer = find(query, "find", (name) => matchesName(query.pattern, name));
      return "exitCode" in answer ? answer : print(answer.found.map(({ label }) => printable(label)));
    },
  };
}

async function grepFiles(query: GrepQuery, found: readonly Found[], view: StagedFiles): Promise<ExecResult> {
  const { Bash } = await import("just-bash");
  const fs = numberedFiles(found, view);
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
  return print(labelMatches(stdout, found, view));
}

/** `/3:7:text` of the engine as `src/a.ts:7:text`; the matches in a binary file as one line. */
function labelMatches(stdout: string, found: readonly Found[], view: StagedFiles): string[] {
  const lines: string[] = [];
  let last: { file: Found; isBinary: boolean } | undefined;
  for (const line of stdout.split("\n")) {
    const match = /^\/(\d+):(\d+):(.*)$/s.exec(line);
    const file = found[Number(match?.[1])];
    if (match === null || file === undefined) continue;
    const isFirst = last?.file !== file;
    if (last === undefined || isFirst) last = { file, isBinary: readFile(view, file.path).includes(0) };
    if (!last.isBinary) lines.push(`${printable(file.label)}:${match[2]}:${clip(match[3] ?? "")}`);
    else if (isFirst) lines.push(`${printable(file.label)}: binary file matches`);
  }
  return lines;
}

/** One flat directory with the found files by number, so that no name can be taken for an option, a glob or a separator. */
function numberedFiles(found: readonly Found[], view: StagedFiles): IFileSystem {
  const pathOf = (path: string): string => found[Number(path.slice(1))]?.path ?? path;
  const read = (path: string): Uint8Array => readFile(view, pathOf(path));
  const refuse = async (): Promise<never> => {
    throw new Error("EACCES: permission denied");
  };
  const statOf = async (path: string) => {
    const inode = stat(view, path === "/" ? "/" : pathOf(path));
    const isFile = inode.kind === "file";
    const mtime = new Date(0);
    return { isFile, isDirectory: !isFile, isSymbolicLink: false, mode: inode.mode, size: inode.size, mtime };
  };
  return {
    readFile: async (path) => decodeText(read(path)),
    readFileBuffer: async (path) => read(path),
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

function isRegularFile(view: StagedFiles, path: string): boolean {
  try {
    return stat(view, path).kind === "file";
  } catch {
    return false;
  }
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
  return /[\n\r]|^\s|\s$/.test(path) ? JSON.stringify(path) : path;
}

/** Long enough for the tool to see that it must clip. */
function clip(text: string): string {
  return text.length > MAX_GREP_LINE_UNITS + 1 ? text.slice(0, MAX_GREP_LINE_UNITS + 1).toWellFormed() : text;
}
