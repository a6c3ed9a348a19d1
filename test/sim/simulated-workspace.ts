/**
 * The workspace of a simulated conversation: commands that append a line, take a while, run once a key and outlive the
 * object, files, and a machine that may die with all of it.
 */
import type { ExecResult, Sandbox } from "../../containers/sandbox.ts";
import { SandboxDiedError } from "../../containers/sandbox-died-error.ts";
import type { Random } from "./random.ts";

/** What a workspace needs of the world around it. */
export interface WorkspaceHost {
  readonly random: Random;
  readonly now: number;
  note(what: string): void;
  sleep(ms: number): Promise<void>;
  /** Whether an instance still has a say. */
  canAct(instance: number): boolean;
  /** A point at which an instance may crash. */
  use(instance: number, what: string): void;
}

interface Command {
  startedAt: number;
  endsAt: number;
  result: ExecResult;
  /** Rejects for those who wait when the workspace is lost. */
  lost: PromiseWithResolvers<never>;
}

export class SimulatedWorkspace {
  readonly #host: WorkspaceHost;
  /** Lines that commands appended, in order. */
  readonly ledger: string[] = [];
  /** Workspaces that were lost, and those of them that a model request had been made with. */
  losses = 0;
  lossesToTell = 0;
  /** The file system; `undefined` while no machine runs. */
  current: string | undefined;
  #atRequest: string | undefined;
  readonly #files = new Map<string, Uint8Array>();
  readonly #commands = new Map<string, Command>();

  constructor(host: WorkspaceHost) {
    this.#host = host;
  }

  /** A model is asked now: what it has heard of the workspace stands as it is. */
  noteRequest(): void {
    this.#atRequest = this.current;
  }

  /** The machine dies with its files, its commands and all it knew of them. */
  lose(): void {
    if (this.current === undefined) return;
    this.#host.note(`the workspace ${this.current} is lost`);
    this.losses++;
    if (this.#atRequest === this.current) this.lossesToTell++;
    this.current = undefined;
    this.#files.clear();
    for (const { lost } of this.#commands.values()) lost.reject(new SandboxDiedError("exec", "stopped"));
    this.#commands.clear();
  }

  /** The workspace as an instance sees it: a command appends a line, takes a while, and runs once a key. */
  sandbox(instance: number): Sandbox {
    const refuse = (): never => {
      throw new Error("The simulated workspace has no such verb.");
    };
    return {
      cwd: "/workspace",
      resolvePath: (path) => path,
      exec: async (command, options) => {
        if (this.#host.canAct(instance)) this.current ??= `fs-${this.losses}`;
        // Only discovery runs without a key; the workspace is empty.
        const key = options?.key;
        if (key === undefined) return { stdout: "\n\n\n0\n", stderr: "", exitCode: 0 };
        this.#host.use(instance, "before a command");
        const running = this.#commands.get(key) ?? this.#start(key, command);
        this.#host.use(instance, "after a command began");
        if (running.endsAt > this.#host.now) {
          const waited = this.#sleepOrHang(running.endsAt - this.#host.now, options?.signal);
          await Promise.race([waited, running.lost.promise]);
        }
        return running.result;
      },
      readFile: async () => refuse(),
      readFileBuffer: async (path) => {
        this.#host.use(instance, "before a file is read");
        const bytes = this.#files.get(path);
        if (!bytes) throw new Error(`ENOENT: no such file or directory, open '${path}'`);
        return bytes;
      },
      writeFile: async (path, content) => {
        this.#host.use(instance, "before a file is written");
        this.ledger.push(`write ${path}`);
        this.#files.set(path, typeof content === "string" ? new TextEncoder().encode(content) : content);
        this.#host.use(instance, "after a file was written");
      },
      stat: async () => refuse(),
      readdir: async () => [],
      exists: async () => false,
      mkdir: async () => refuse(),
      rm: async () => refuse(),
      generation: async () => this.current,
    };
  }

  /** Now and then a command that does not hear an abort and answers much later. */
  async #sleepOrHang(ms: number, signal: AbortSignal | undefined): Promise<void> {
    if (this.#host.random.chance(0.02)) await this.#host.sleep(ms + 20_000);
    else
      await Promise.race([this.#host.sleep(ms), new Promise((resolve) => signal?.addEventListener("abort", resolve))]);
  }

  #start(key: string, command: string): Command {
    this.ledger.push(command);
    const endsAt = this.#host.now + this.#host.random.below(4000);
    const result = { stdout: `did ${command}`, stderr: "", exitCode: 0 };
    const started = { startedAt: this.#host.now, endsAt, result, lost: Promise.withResolvers<never>() };
    started.lost.promise.catch(() => {});
    this.#commands.set(key, started);
    return started;
  }
}
