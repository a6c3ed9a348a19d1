/**
 * The world a simulated conversation lives in: virtual time, one alarm stored with the data, a workspace, and crashes at
 * any use of storage or workspace or between any two steps.
 *
 * A crash kills the instance: its handle on the database is dead from then on, so nothing of it can write any more.
 * Commands that were running in the workspace go on, as a container's would.
 */
import type { Database } from "../../durable-objects/conversation/store/database.ts";
import { type NodeDatabase, nodeDatabase } from "../unit/node-database.ts";
import type { Random } from "./random.ts";
import { SimulatedWorkspace, type WorkspaceHost } from "./simulated-workspace.ts";

export class SimulatedCrash extends Error {}

const CRASH_TEXT = "The instance crashed.";

export function isSimulatedCrash(text: string): boolean {
  return text.includes(CRASH_TEXT);
}

interface Timer {
  at: number;
  order: number;
  run: () => void;
}

const START = 1_700_000_000_000;

export class World implements WorkspaceHost {
  readonly random: Random;
  now = START;
  readonly workspace: SimulatedWorkspace;
  /** What happened, in order. */
  readonly trace: string[] = [];
  crashes = 0;
  /** Uses of storage or workspace until one kills the instance; `undefined` = no crash is planned. */
  #usesToCrash: number | undefined;
  /** Instances that lost their place and could still write for a while. */
  overtaken = 0;
  /** Runs of a durable tool with a scratch conversation: what each has run bears its number. */
  scratchRuns = 0;
  /** Counts what could be a summary. */
  summaries = 0;
  /** Requests that stood on a summary. */
  compactions = 0;
  /** Writes that are stored. */
  commits = 0;
  #generation = 0;
  #isCrashed = false;
  /** The instance that lost its place, and the uses it has left. */
  #former: { generation: number; uses: number } | undefined;
  #timers: Timer[] = [];
  #order = 0;
  readonly #store: NodeDatabase = nodeDatabase();

  constructor(random: Random) {
    this.random = random;
    this.workspace = new SimulatedWorkspace(this);
    this.#store.run("CREATE TABLE sim_alarm (one INTEGER PRIMARY KEY, at INTEGER NOT NULL)");
  }

  get alarmAt(): number | undefined {
    return this.#store.all<{ at: number }>("SELECT at FROM sim_alarm")[0]?.at;
  }

  setAlarm(at: number): void {
    this.#store.run("INSERT OR REPLACE INTO sim_alarm (one, at) VALUES (1, ?)", at);
  }

  clearAlarm(): void {
    this.#store.run("DELETE FROM sim_alarm");
  }

  /** The instance will crash at the `uses`-th use of its storage or its workspace. */
  planCrash(uses: number): void {
    this.#usesToCrash = uses;
  }

  /** The run is over: nothing of it is asked any more. */
  close(): void {
    this.#isCrashed = true;
    this.#former = undefined;
    this.#store.close();
  }

  /** No crash that was planned happens any more. */
  calm(): void {
    this.#usesToCrash = undefined;
    this.#former = undefined;
  }

  /** Ends the instance: its database is dead, its timers never fire. */
  crash(where: string): void {
    this.note(`crash ${where}`);
    this.crashes++;
    this.#isCrashed = true;
    this.#former = undefined;
    this.#timers = [];
    this.#usesToCrash = undefined;
  }

  /**
   * The next instance starts although this one has not ended: it works on until `uses` more uses of its storage or its
   * workspace.
   */
  overtake(uses: number): void {
    if (this.#isCrashed) return;
    this.note("the instance loses its place");
    this.crashes++;
    this.overtaken++;
    this.#isCrashed = true;
    this.#former = { generation: this.#generation, uses };
    this.#usesToCrash = undefined;
  }

  note(what: string): void {
    this.trace.push(`${String(this.now - START).padStart(7)} ${what}`);
  }

  /** Rows of the submission table, past every instance. */
  count(where: string): number {
    const hasTable = this.#store.all("SELECT 1 AS x FROM sqlite_master WHERE name = 'submission'").length > 0;
    if (!hasTable) return 0;
    return this.#store.all<{ n: number }>(`SELECT COUNT(*) AS n FROM submission WHERE ${where}`)[0]?.n ?? 0;
  }

  /** The submission that runs, past every instance. */
  running(): { id: string; attempt: number; isPostponed: boolean } | undefined {
    if (this.count("state = 'running'") === 0) return undefined;
    const sql = "SELECT id, attempt, resume_at FROM submission WHERE state = 'running'";
    const row = this.#store.all<{ id: string; attempt: number; resume_at: number | null }>(sql)[0];
    return row && { id: row.id, attempt: row.attempt, isPostponed: row.resume_at !== null };
  }

  /** What a new instance is given. */
  instance(): {
    db: Database;
    alarm: { set(at: number): void; clear(): void };
    timers: { after(ms: number, run: () => void): () => void };
    /** Whether it is the one that answers. */
    isAlive(): boolean;
    number: number;
  } {
    const number = ++this.#generation;
    this.#isCrashed = false;
    const store = this.#store;
    const use = (what: string): void => this.use(number, what);
    let depth = 0;
    const commit = (): void => {
      if (depth === 0) this.commits++;
    };
    const db: Database = {
      all(sql, ...params) {
        use("at a read");
        return store.all(sql, ...params);
      },
      run(sql, ...params) {
        use(`at ${sql.split(/\s+/, 4).join(" ")}`);
        store.run(sql, ...params);
        commit();
      },
      transaction(work) {
        use("at a transaction");
        depth++;
        try {
          return store.transaction(() => {
            const result = work();
            use("before a commit");
            return result;
          });
        } finally {
          depth--;
          commit();
        }
      },
    };
    return {
      db,
      alarm: {
        set: (at) => db.run("INSERT OR REPLACE INTO sim_alarm (one, at) VALUES (1, ?)", at),
        clear: () => db.run("DELETE FROM sim_alarm"),
      },
      timers: {
        after: (ms, run) => (this.canAct(number) ? this.after(ms, run) : () => {}),
      },
      isAlive: () => number === this.#generation && !this.#isCrashed,
      number,
    };
  }

  canAct(instance: number): boolean {
    return (instance === this.#generation && !this.#isCrashed) || instance === this.#former?.generation;
  }

  /** A point at which a planned crash may happen; throws for an instance that is gone. */
  use(instance: number, what: string): void {
    if (!this.canAct(instance)) throw new SimulatedCrash(CRASH_TEXT);
    if (this.#former?.generation === instance) {
      if (--this.#former.uses > 0) return;
      this.note(`the instance that lost its place ends ${what}`);
      this.#former = undefined;
      throw new SimulatedCrash(CRASH_TEXT);
    }
    if (this.#usesToCrash === undefined || --this.#usesToCrash > 0) return;
    this.crash(what);
    throw new SimulatedCrash(CRASH_TEXT);
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

  /** The rows as they are, past every instance. */
  get records(): Database {
    return this.#store;
  }
}

/** Lets everything that is ready run, without moving the clock. */
export async function settleMicrotasks(): Promise<void> {
  for (let i = 0; i < 3; i++) await new Promise((resolve) => setImmediate(resolve));
}
