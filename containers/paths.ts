/**
 * POSIX paths, lexically: what a spelling means without asking any file system.
 *
 * Source: contract TOOLS 11.1. `~`, `file://`, `\` and `%2e` are ordinary characters; links are not looked at.
 */

/** Absolute form of `path`: empty and `.` segments drop, `..` pops and stops at `/`. */
export function normalisePath(path: string): string {
  const kept: string[] = [];
  for (const segment of path.split("/")) {
    if (segment === "" || segment === ".") continue;
    if (segment === "..") kept.pop();
    else kept.push(segment);
  }
  return `/${kept.join("/")}`;
}

/** `path` as seen from `cwd`, absolute and normalised; `""` and `"."` are `cwd` itself. */
export function resolvePath(cwd: string, path: string): string {
  return normalisePath(path.startsWith("/") ? path : `${cwd}/${path}`);
}

/** The folder that holds an absolute, normalised path; the root holds itself. */
export function parentPath(path: string): string {
  return path.slice(0, path.lastIndexOf("/")) || "/";
}
