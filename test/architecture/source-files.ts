/**
 * The sources as the architecture test sees them: path, text and imports. Whatever names its interpreter (`#!`) is one too,
 * under any name.
 *
 * Imports are found by pattern, not by a parser: Biome formats every file, so an import or a re-export starts a line,
 * ends with `";` and uses double quotes; `npm run check` runs Biome too. The TypeScript of this project has no
 * JavaScript API to parse with.
 */
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

export const ROOT = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "../..");

const FOLDERS = ["worker", "durable-objects", "containers", "test"];
const ROOT_FILES = ["vitest.config.ts"];
const SKIPPED = ["node_modules", ".wrangler", "fixtures", "dist", "peer"];
const SOURCE = /\.(?:ts|mts|mjs|js|tsx)$/;

const STATEMENT =
  /^(?:import|export)(?<type> type)? (?<names>(?:[\w$]+,? )?(?:\*(?: as [\w$]+)? |\{[^{}]*\} )?)from "(?<from>[^"]+)"/gm;
const SIDE_EFFECT = /^import "(?<from>[^"]+)"/gm;
const DYNAMIC = /\bimport\("(?<from>[^"]+)"\)/g;

export interface Import {
  /** As written. */
  from: string;
  /** From the project's root, for a relative import. */
  file?: string;
  typeOnly: boolean;
}

export interface SourceFile {
  /** From the project's root, with `/`. */
  path: string;
  text: string;
  lines: number;
  imports: Import[];
}

function isTypeOnly(groups: Record<string, string | undefined>): boolean {
  if (groups.type) return true;
  const braces = /^\{([^{}]*)\} $/.exec(groups.names ?? "")?.[1];
  const names = braces?.split(",").map((name) => name.trim());
  return names?.filter((name) => name !== "").every((name) => name.startsWith("type ")) ?? false;
}

/** Exported for its own test. */
export function readImports(text: string, file: string): Import[] {
  const found: Import[] = [];
  const add = (from: string | undefined, typeOnly: boolean) => {
    if (from === undefined) return;
    const relative = from.startsWith(".") ? { file: path.posix.join(path.posix.dirname(file), from) } : {};
    found.push({ from, typeOnly, ...relative });
  };
  for (const { groups = {} } of text.matchAll(STATEMENT)) add(groups.from, isTypeOnly(groups));
  for (const { groups = {} } of text.matchAll(SIDE_EFFECT)) add(groups.from, false);
  for (const match of text.matchAll(DYNAMIC)) {
    // In a comment, or after `typeof` and the like, it names a type; a real one is awaited, returned or passed on.
    const line = text.slice(text.lastIndexOf("\n", match.index) + 1, match.index);
    add(match.groups?.from, /(?:^\s*\*|\/\*\*|\btypeof |: |<)\s*[^=(]*$/.test(line));
  }
  return found;
}

function listFiles(root: string, folder: string): string[] {
  let entries: import("node:fs").Dirent[];
  try {
    entries = readdirSync(path.join(root, folder), { withFileTypes: true });
  } catch {
    return [];
  }
  return entries.flatMap((entry) => {
    const inner = `${folder}/${entry.name}`;
    if (entry.isDirectory()) return SKIPPED.includes(entry.name) ? [] : listFiles(root, inner);
    return entry.isFile() ? [inner] : [];
  });
}

/** @param root of a project: ours, or one that a test has made up */
export function readSourceFiles(root = ROOT): SourceFile[] {
  return [...FOLDERS.flatMap((folder) => listFiles(root, folder)), ...ROOT_FILES].flatMap((file) => {
    const text = readFileSync(path.join(root, file), "utf8");
    if (!SOURCE.test(file) && !text.startsWith("#!")) return [];
    return [{ path: file, text, lines: text.split("\n").length - 1, imports: readImports(text, file) }];
  });
}
