/**
 * The world a simulated conversation lives in: virtual time, one alarm stored with the data, a workspace whose commands
 * outlive the object, and crashes at any storage write or between any two steps.
 *
 * A crash kills the instance: its handle on the database is dead from then on, so nothing of it can write any more.
 * Commands that were running in the workspace go on, as a container's would.
 */
import type { ExecResult, Sandbox } from "../../containers/sandbox.ts";
import { SandboxDiedError } from "../../containers/sandbox-died-error.ts";
import type { Database } from "../../durable-objects/conversation/store/database.ts";
import { nodeDatabase } from "../unit/node-database.ts";
import type { Random } from "./random.ts";

export class SimulatedCrash extends Error {}

interface Timer {
  at: number;
  order: number;
  run: () => void;
}

interface Command {
  startedAt: number;
  endsAt: number;
  result: ExecResult;
  /** Rejects for those who wait when the workspace is lost. */
  lost: PromiseWithResolvers<never>;
}

export class World {
  readonly random: Random;
  now = 1_700_000_000_000;
  /** Lines that commands appended, in order. */
  readonly ledger: string[] = [];
  crashes = 0;
  /** The file system of the workspace; `undefined` while no machine runs. */
  workspace: string | undefined;
  /** Workspaces that were lost, and those of them that a model request had been made with. */
  losses = 0;
  lossesToTell = 0;
  #workspaceAtRequest: string | undefined;
  /** Storage writes until the next one kills the instance; `undefined` = none planned. */
  #writesToCrash: number | undefined;
  #generation = 0;
  #isCrashed = false;
  #timers: Timer[] = [];
  #order = 0;
  readonly #store: Database = nodeDatabase();
  readonly #commands = new Map<string, Command>();

  constructor(random: Random) {
    this.random = random;
    this.#store.run("CREATE TABLE sim_alarm (one INTEGER PRIMARY KEY, at INTEGER NOT NULL)");
  }

  get alarmAt(): number | undefined {
    return this.#store.all<{ at: number }>("SELECT at FROM sim_alarm")[0]?.at;
  }

  clearAlarm(): void {
    this.#store.run("DELETE FROM sim_alarm");
  }

  planCrash(writes: number): void {
    this.#writesToCrash = writes;
  }

  /** No crash that was planned happens any more. */
  calm(): void {
    this.#writesToCrash = undefined;
  }

  /** Ends the instance: its database is dead, its timers never fire. */
  crash(): void {
    this.crashes++;
    this.#isCrashed = true;
    this.#timers = [];
    this.#writesToCrash = undefined;
  }

  /** What a new instance is given. */
  instance(): {
    db: Database;
    alarm: { set(at: number): void; clear(): void };
    timers: { after(ms: number, run: () => void): () => void };
    isAlive(): boolean;
  } {
    const generation = ++this.#generation;
    this.#isCrashed = false;
    const isAlive = (): boolean => generation === this.#generation && !this.#isCrashed;
    const requireAlive = (): void => {
      if (!isAlive()) throw new SimulatedCrash("The instance is gone.");
    };
    const store = this.#store;
    const write = (
      sql: string,
      ...params: Parameters<Database["run"]> extends [string, ...infer P] ? P : never
    ): void => {
      requireAlive();
      if (this.#writesToCrash !== undefined && --this.#writesToCrash <= 0) {
        this.#isCrashed = true;
        this.crashes++;
        this.#timers = [];
        this.#writesToCrash = undefined;
        throw new SimulatedCrash("Crash at a storage write.");
      }
      store.run(sql, ...params);
    };
    const db: Database = {
      all(sql, ...params) {
        requireAlive();
        return store.all(sql, ...params);
      },
      run: write,
      transaction(work) {
        requireAlive();
        return store.transaction(work);
      },
    };
    return {
      db,
      alarm: {
        set: (at) => write("INSERT OR REPLACE INTO sim_alarm (one, at) VALUES (1, ?)", at),
        clear: () => write("DELETE FROM sim_alarm"),
      },
      timers: {
        after: (ms, run) => {
          if (!isAlive()) return () => {};
          return this.after(ms, run);
        },
      },
      isAlive,
    };
  }

  /** A timer that a crash forgets. */
  after(ms: number, run: () => void): () => void {
    const timer: Timer = { at: this.now + ms, order: this.#order++, run };
    this.#timers.push(timer);
    return () => {
      this.#timers = this.#timers.filter((other) => other !== timer);
    };
  }

  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => this.after(ms, resolve));
  }

  nextTimerAt(): number | undefined {
    return this.#timers.length === 0 ? undefined : Math.min(...this.#timers.map((timer) => timer.at));
  }

  /** Moves the clock to `at` and runs what is due then, in order. */
  advanceTo(at: number): void {
    this.now = Math.max(this.now, at);
    const due = this.#timers.filter((timer) => timer.at <= this.now).sort((a, b) => a.at - b.at || a.order - b.order);
    this.#timers = this.#timers.filter((timer) => timer.at > this.now);
    for (const timer of due) timer.run();
  }

  /** A model is asked now: what it has heard of the workspace stands as it is. */
  noteRequest(): void {
    this.#workspaceAtRequest = this.workspace;
  }

  /** The machine dies with its files, its commands and all it knew of them. */
  loseWorkspace(): void {
    if (this.workspace === undefined) return;
    this.losses++;
    if (this.#workspaceAtRequest === this.workspace) this.lossesToTell++;
    this.workspace = undefined;
    for (const { lost } of this.#commands.values()) lost.reject(new SandboxDiedError("exec", "stopped"));
    this.#commands.clear();
  }

  /** The workspace as an instance sees it; `echo NAME` appends a line, takes a while, and runs once a key. */
  sandbox(isAlive: () => boolean): Sandbox {
    const refuse = (): never => {
      throw new Error("The simulated workspace has commands only.");
    };
    return {
      cwd: "/workspace",
      resolvePath: (path) => path,
      exec: async (command, options) => {
        if (!isAlive()) throw new SimulatedCrash("The instance is gone.");
        this.workspace ??= `fs-${this.losses}`;
        // Only discovery runs without a key; the workspace is empty.
        const key = options?.key;
        if (key === undefined) return { stdout: "\n\n0\n", stderr: "", exitCode: 0 };
        const known = this.#commands.get(key);
        const running = known ?? this.#start(key, command);
        if (running.endsAt > this.now)
          await Promise.race([this.sleep(running.endsAt - this.now), running.lost.promise]);
        return running.result;
      },
      readFile: async () => refuse(),
      readFileBuffer: async () => refuse(),
      writeFile: async () => refuse(),
      stat: async () => refuse(),
      readdir: async () => [],
      exists: async () => false,
      mkdir: async () => refuse(),
      rm: async () => refuse(),
      generation: async () => this.workspace,
    };
  }

  #start(key: string, command: string): Command {
    this.ledger.push(command);
    const endsAt = this.now + this.random.below(4000);
    const result = { stdout: `did ${command}`, stderr: "", exitCode: 0 };
    const started = { startedAt: this.now, endsAt, result, lost: Promise.withResolvers<never>() };
    started.lost.promise.catch(() => {});
    this.#commands.set(key, started);
    return started;
  }

  /** The rows as they are, past every instance. */
  get records(): Database {
    return this.#store;
  }
}

/** Lets everything that is ready run, without moving the clock. */
export async function settleMicrotasks(): Promise<void> {
  for (let i = 0; i < 3; i++) await new Promise((resolve) => setImmediate(resolve));
}
