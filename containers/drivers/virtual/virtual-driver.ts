/**
 * The driver of `virtual()`: just-bash over the conversation's own files.
 *
 * A command works on a copy-on-write view and commits its file changes and, under its key, its outcome in one transaction:
 * once, crash or not. A timeout commits what was done up to it; an abort commits nothing and records nothing, so that the
 * same key may run again. File verbs commit at once and see the last commit.
 */
import type { Clock, Timers } from "../../../durable-objects/protocol/clock.ts";
import { abortError } from "../../abort-error.ts";
import { decodeText } from "../../decode-text.ts";
import type { DriverExecOptions, SandboxDriver } from "../../driver.ts";
import type { FileStore, KeyedOutcome } from "../../file-store.ts";
import type { ExecResult, FileStat } from "../../sandbox.ts";
import { startDeadline, TIMED_OUT_EXIT_CODE } from "../bash/run-in-bash.ts";
import { type SearchTree, shellSearch } from "../bash/search.ts";
import { commandQueueOf } from "./command-queue.ts";
import * as operations from "./file-operations.ts";
import { mergeChanges } from "./merge-changes.ts";
import { runShell } from "./shell.ts";
import { StagedFiles } from "./staged-files.ts";

/** A clock of whole milliseconds may be one behind: a caller's own timer of the same length must have passed first. */
const DEADLINE_SLACK_MS = 2;

export interface VirtualDriverOptions {
  clock: Clock;
  timers: Timers;
  /** Layered under each call's own variables. */
  env: Record<string, string>;
}

export function virtualDriver(store: FileStore, options: VirtualDriverOptions): SandboxDriver {
  const { clock, timers } = options;
  const queue = commandQueueOf(store);
  const open = (): StagedFiles => new StagedFiles(store, () => clock.now());
  const commit = (view: StagedFiles, outcome?: KeyedOutcome): void => {
    const changes = mergeChanges(view, store);
    if (changes.length > 0 || outcome !== undefined) store.commit(changes, outcome);
  };
  const change = (work: (view: StagedFiles) => void): void => {
    const view = open();
    work(view);
    commit(view);
  };

  /** At its turn; the time spent in the queue counts towards `timeoutMs`. */
  const runCommand = async (
    command: string,
    { cwd, env, key, timeoutMs }: DriverExecOptions,
    askedAtMs: number,
    stop: AbortSignal,
  ): Promise<ExecResult> => {
    const view = open();
    const leftMs = timeoutMs === undefined ? undefined : timeoutMs - (clock.now() - askedAtMs) + DEADLINE_SLACK_MS;
    const deadline = leftMs === undefined ? undefined : startDeadline(leftMs, timers);
    let result: ExecResult = { stdout: "", stderr: "", exitCode: TIMED_OUT_EXIT_CODE };
    try {
      if (deadline === undefined || !deadline.hasPassed()) {
        result = await runShell(view, command, {
          cwd,
          env: { ...options.env, ...env },
          deadline,
          signal: stop,
          timers,
        });
      }
    } finally {
      deadline?.cancel();
    }
    if (stop.aborted) throw abortError(stop);
    commit(view, key === undefined ? undefined : { key, result });
    return result;
  };

  return {
    async exec(command, execOptions) {
      const { key, signal } = execOptions;
      const recorded = key === undefined ? undefined : store.readOutcome(key);
      if (recorded !== undefined) return recorded;
      const askedAtMs = clock.now();
      return queue.run(key, signal, (stop) => runCommand(command, execOptions, askedAtMs, stop));
    },
    async readFile(path) {
      return decodeText(operations.readFile(open(), path));
    },
    async readFileBuffer(path) {
      return operations.readFile(open(), path);
    },
    async writeFile(path, content) {
      const bytes = typeof content === "string" ? new TextEncoder().encode(content) : content;
      change((view) => operations.writeFile(view, path, bytes));
    },
    async stat(path) {
      const view = open();
      const target = operations.stat(view, path);
      return fileStatOf(operations.lstat(view, path).kind === "symlink", target);
    },
    async readdir(path) {
      return operations.readDirectory(open(), path).map(({ name }) => name);
    },
    async exists(path) {
      return operations.exists(open(), path);
    },
    async mkdir(path, mkdirOptions) {
      change((view) => operations.makeDirectory(view, path, { recursive: mkdirOptions?.recursive ?? false }));
    },
    async rm(path, rmOptions) {
      const recursive = rmOptions?.recursive ?? false;
      const force = rmOptions?.force ?? false;
      change((view) => operations.remove(view, path, { recursive, force, emptyDirectory: false }));
    },
    async realPath(path) {
      return operations.realPath(open(), path);
    },
    search: shellSearch(() => searchTree(open())),
  };
}

/** The last commit as the search walks it. */
function searchTree(view: StagedFiles): SearchTree {
  return {
    list: async (path) => operations.readDirectory(view, path),
    async kindOf(path) {
      try {
        return operations.stat(view, path).kind;
      } catch {
        return undefined;
      }
    },
    read: async (path) => operations.readFile(view, path),
  };
}

function fileStatOf(isSymbolicLink: boolean, target: ReturnType<typeof operations.stat>): FileStat {
  return {
    isFile: target.kind === "file",
    isDirectory: target.kind === "directory",
    isSymbolicLink,
    size: target.size,
    mtime: new Date(target.mtimeMs),
  };
}
