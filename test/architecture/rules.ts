/**
 * The rules over the sources. Each gives the sentences of what breaks it: file, import, rule.
 */
import {
  BESIDE_CATALOGUES,
  CATALOGUES,
  type Edge,
  FORBIDDEN_NAMES,
  FREE_ROOMS,
  LINES_THAT_NEED_A_REASON,
  LONG_FILES,
  MAX_LINES,
  OTHER_INDEX_FILES,
  PACKAGES,
  ROOMS,
  type Room,
  SQL_ROOM,
} from "./layers.ts";
import type { Import, SourceFile } from "./source-files.ts";

const SQL =
  /\b(?:SELECT\s.*\bFROM\b|INSERT\s+(?:OR\s+\w+\s+)?INTO\b|UPDATE\s+\w+\s+SET\b|DELETE\s+FROM\b|CREATE\s+(?:UNIQUE\s+)?(?:TABLE|INDEX)\b)|\bsql\.exec\(/;
const KEBAB = /^[a-z0-9]+(?:-[a-z0-9]+)*(?:\.(?:test|config|d))?(?:\.\w+)?$/;
const INTERPRETER = /^#!.*\n/;
/** Of another language, whose comments begin with `#`. */
const FOREIGN = /^#!(?!.*\bnode\b)/;

function isIn(file: string, place: string): boolean {
  return file === place || file.startsWith(`${place}/`);
}

export function roomOf(file: string): Room | undefined {
  return ROOMS.filter((room) => isIn(file, room.path)).sort((a, b) => b.path.length - a.path.length)[0];
}

function allows(edge: Edge, target: Room, imported: Import): boolean {
  if (edge.to !== target.path) return false;
  if (edge.typesOnly && !imported.typeOnly) return false;
  return edge.files === undefined || edge.files.some((name) => imported.file === `${edge.to}/${name}`);
}

export function findLayerBreaks(files: readonly SourceFile[]): string[] {
  const breaks: string[] = [];
  for (const file of files) {
    if (FREE_ROOMS.some((free) => isIn(file.path, free))) continue;
    const room = roomOf(file.path);
    if (!room) {
      breaks.push(`${file.path} stands in no room: add its folder to the layer table.`);
      continue;
    }
    for (const imported of file.imports) {
      if (imported.file === undefined || imported.file.endsWith(".json")) continue;
      const target = roomOf(imported.file);
      if (target === room) continue;
      if (!target) breaks.push(`${file.path} imports ${imported.file}, which stands in no room.`);
      else if (!room.may.some((edge) => allows(edge, target, imported))) {
        const how = imported.typeOnly ? "even as a type" : "as a value";
        breaks.push(`${file.path} imports ${imported.file}: ${room.role} may not import ${target.role}, ${how}.`);
      }
    }
  }
  return breaks;
}

function packageOf(from: string): string {
  const [first = "", second = ""] = from.replace(/^(node|cloudflare):.*/, "$1").split("/");
  return first.startsWith("@") ? `${first}/${second}` : first;
}

export function findPackageBreaks(files: readonly SourceFile[]): string[] {
  const breaks: string[] = [];
  for (const file of files) {
    if (FREE_ROOMS.some((free) => isIn(file.path, free))) continue;
    for (const imported of file.imports) {
      if (imported.file !== undefined) continue;
      const name = packageOf(imported.from);
      const rule = PACKAGES.find((entry) => entry.name === name);
      const places = rule && [...rule.values, ...(imported.typeOnly ? rule.types : [])];
      if (!places) breaks.push(`${file.path} imports ${imported.from}: the package is not in the table.`);
      else if (!places.some((place) => isIn(file.path, place))) {
        const how = imported.typeOnly ? "Types" : "Values";
        breaks.push(`${file.path} imports ${imported.from}. ${how} of it are for ${places.join(", ")} only.`);
      }
    }
  }
  return breaks;
}

/** Each cycle once, as the way round it. Imports of types count: they bind two files as any other. */
export function findCycles(files: readonly SourceFile[]): string[] {
  const byPath = new Map(files.map((file) => [file.path, file]));
  const done = new Set<string>();
  const way: string[] = [];
  const cycles: string[] = [];
  const visit = (path: string): void => {
    const at = way.indexOf(path);
    if (at >= 0) cycles.push(`${[...way.slice(at), path].join(" -> ")} is a cycle: move what both need below both.`);
    if (at >= 0 || done.has(path)) return;
    way.push(path);
    for (const { file } of byPath.get(path)?.imports ?? []) if (file !== undefined) visit(file);
    way.pop();
    done.add(path);
  };
  for (const file of files) visit(file.path);
  return cycles;
}

export function findUnlistedMembers(files: readonly SourceFile[]): string[] {
  const byPath = new Map(files.map((file) => [file.path, file]));
  return CATALOGUES.flatMap((folder) => {
    const index = byPath.get(`${folder}/index.ts`);
    if (!index) return [];
    const reached = new Set([index.path]);
    for (const path of reached) {
      for (const { file } of byPath.get(path)?.imports ?? []) if (file && isIn(file, folder)) reached.add(file);
    }
    const members = files.filter((file) => isIn(file.path, folder) && !file.path.endsWith(".d.ts"));
    return members
      .filter((member) => !reached.has(member.path) && !BESIDE_CATALOGUES.includes(member.path))
      .map((member) => `${member.path} is not listed: ${index.path} does not lead to it.`);
  });
}

export function findSqlOutsideStore(files: readonly SourceFile[]): string[] {
  return files
    .filter((file) => !isIn(file.path, SQL_ROOM) && !FREE_ROOMS.some((free) => isIn(file.path, free)))
    .flatMap((file) =>
      file.text
        .split("\n")
        .flatMap((line, at) =>
          SQL.test(line) && !/^\s*(?:\*|\/\*|\/\/)/.test(line)
            ? [`${file.path}:${at + 1} holds SQL: it belongs into ${SQL_ROOM}.`]
            : [],
        ),
    );
}

export function findSizeBreaks(files: readonly SourceFile[]): string[] {
  const breaks = files.flatMap(({ path, lines }) => {
    if (lines > MAX_LINES) return [`${path} has ${lines} lines, more than ${MAX_LINES}: split it.`];
    if (lines <= LINES_THAT_NEED_A_REASON || LONG_FILES[path]) return [];
    return [`${path} has ${lines} lines: above ${LINES_THAT_NEED_A_REASON} the table must hold a reason.`];
  });
  const stale = Object.keys(LONG_FILES).filter(
    (path) => !files.some((file) => file.path === path && file.lines > LINES_THAT_NEED_A_REASON),
  );
  return [...breaks, ...stale.map((path) => `${path} needs no reason any more: take it out of the table.`)];
}

export function findNameBreaks(files: readonly SourceFile[]): string[] {
  return files.flatMap(({ path }) => {
    const name = path.split("/").at(-1) ?? "";
    const stem = name.split(".")[0] ?? "";
    if (FORBIDDEN_NAMES.includes(stem)) return [`${path} says nothing: name it after what it exports.`];
    if (!KEBAB.test(name)) return [`${path} is not in kebab-case.`];
    const folder = path.slice(0, -"/index.ts".length);
    if (name === "index.ts" && !CATALOGUES.includes(folder) && !OTHER_INDEX_FILES.includes(path)) {
      return [`${path} is no catalogue: name it after what it exports.`];
    }
    return [];
  });
}

/** A test says what it is for with its `describe`, a script of another language with its own kind of comment. */
/** The deployer's own code keeps whatever style its owners like. */
const DEPLOYERS_ROOMS = ["worker/agents"];

export function findMissingHeaders(files: readonly SourceFile[]): string[] {
  return files
    .filter(({ path }) => !path.endsWith(".test.ts") && !DEPLOYERS_ROOMS.some((room) => isIn(path, room)))
    .filter(({ text }) => !text.replace(INTERPRETER, "").startsWith(FOREIGN.test(text) ? "# " : "/**"))
    .map(({ path }) => `${path} does not open with a comment that says what it is for.`);
}
