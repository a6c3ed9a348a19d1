/**
 * A process and everything it started, found by parent id only.
 *
 * A process is named by its id and its start time together, so that an id that was given away again is never touched.
 */
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";

const POLL_MS = 10;
const GONE_WITHIN_MS = 5_000;

export interface ProcessEntry {
  pid: number;
  parent: number;
  started: string;
}

function readStat(pid: number): ProcessEntry | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The name stands in parentheses and may hold anything; the fields behind it are fixed.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    const [state, parent = "0"] = fields;
    return state === "Z" ? undefined : { pid, parent: Number(parent), started: fields[19] ?? "" };
  } catch {
    return undefined;
  }
}

function listProcesses(): ProcessEntry[] {
  if (existsSync("/proc/self/stat")) {
    return readdirSync("/proc").flatMap((name) => (/^\d+$/.test(name) ? (readStat(Number(name)) ?? []) : []));
  }
  const lines = execFileSync("ps", ["-A", "-o", "pid=,ppid=,stat=,lstart="], { encoding: "utf8" }).trim().split("\n");
  return lines.flatMap((line) => {
    const [pid = "", parent = "", state = "", ...started] = line.trim().split(/\s+/);
    return state.startsWith("Z") ? [] : { pid: Number(pid), parent: Number(parent), started: started.join(" ") };
  });
}

/** The process itself first, then all below it. Empty when it is gone. */
export function listTree(pid: number): ProcessEntry[] {
  const all = listProcesses();
  const tree = all.filter((entry) => entry.pid === pid);
  for (const member of tree) tree.push(...all.filter((entry) => entry.parent === member.pid));
  return tree;
}

/** Those of a tree that still run. */
export function listAlive(tree: readonly ProcessEntry[]): ProcessEntry[] {
  const all = listProcesses();
  return tree.filter((member) => all.some((entry) => entry.pid === member.pid && entry.started === member.started));
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // Gone already.
  }
}

/** Resolves when none of the tree is left; throws when some outlive the time. */
export async function waitUntilGone(tree: readonly ProcessEntry[], withinMs = GONE_WITHIN_MS): Promise<void> {
  const end = Date.now() + withinMs;
  let left = listAlive(tree);
  while (left.length > 0) {
    if (Date.now() > end) throw new Error(`Still running: ${left.map((entry) => entry.pid).join(", ")}`);
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    left = listAlive(left);
  }
}

/**
 * `kill -9` of a whole tree at one moment, as a machine that loses power: every member is stopped before the first is
 * killed, so that none sees another die and tidies up.
 */
export async function killTree(pid: number): Promise<void> {
  let tree: ProcessEntry[] = [];
  for (;;) {
    const seen = listTree(pid);
    const fresh = seen.filter((entry) => !tree.some((known) => known.pid === entry.pid));
    if (fresh.length === 0) break;
    for (const entry of fresh) signal(entry.pid, "SIGSTOP");
    tree = [...tree, ...fresh];
  }
  for (const entry of tree) signal(entry.pid, "SIGKILL");
  await waitUntilGone(tree);
}
