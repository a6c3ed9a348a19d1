/**
 * One seeded run: clients, a model, commands and crashes on a simulated conversation, until nothing is due; then what
 * must hold is checked. Everything that happens is traced, so that a failing seed can be read.
 */
import { DEFAULT_DURABILITY } from "../../durable-objects/agent/durability.ts";
import { createEngine, type Engine } from "../../durable-objects/conversation/engine.ts";
import { readSchemaVersion } from "../../durable-objects/conversation/store/migrations.ts";
import { runAttempt } from "../../durable-objects/conversation/turn/run-attempt.ts";
import type { IdPrefix } from "../../durable-objects/protocol/ids.ts";
import { findHookViolations } from "./hook-invariants.ts";
import { type Admitted, findIdle, findUnwatched, findViolations } from "./invariants.ts";
import { type Random, seededRandom } from "./random.ts";
import { type ModelLog, type Plan, scriptedModel } from "./scripted-model.ts";
import { renderSimulatedAgent } from "./simulated-agent.ts";
import { readSnapshot, SimulatedReader } from "./simulated-reader.ts";
import { isSimulatedCrash, SimulatedCrash, settleMicrotasks, World } from "./world.ts";

export interface SimulationResult {
  violations: string[];
  trace: string[];
  crashes: number;
  joined: number;
  /** Requests that stood on a summary. */
  compactions: number;
  /** Workspaces that were lost. */
  losses: number;
  outcomes: Record<string, number>;
}

export interface SimulationOptions {
  /** Fewer crashes make a shorter story of a failing seed. */
  maxCrashes?: number;
}

const MAX_STEPS = 8000;
const MAX_CRASHES = 24;
const MAX_LOSSES = 3;
const ADMISSION = { agent: "sim", id: "one" };

interface Post {
  at: number;
  plan: Plan;
  key?: string;
}

interface Abort {
  at: number;
  all: boolean;
}

function takeDue<T extends { at: number }>(events: T[], now: number): T | undefined {
  const index = events.findIndex((event) => event.at <= now);
  return index < 0 ? undefined : events.splice(index, 1)[0];
}

const KINDS = ["ledger", "ledger", "ledger", "file", "steps", "ask", "askAgain"] as const;
const KINDS_WITH_HOOKS = [...KINDS, "tally", "tally", "tally"] as const;

function planTurns(random: Random, name: string, hasHooks: boolean): Plan["turns"] {
  return Array.from({ length: random.below(3) }, (_, turn) =>
    Array.from({ length: 1 + random.below(3) }, (_unused, call) => ({
      kind: random.pick(hasHooks ? KINDS_WITH_HOOKS : KINDS),
      line: `${name}.${turn}.${call}`,
    })),
  );
}

function planPosts(random: Random, now: number, hasHooks: boolean): Post[] {
  return Array.from({ length: 1 + random.below(4) }, (_, i) => ({
    at: now + random.below(9000),
    plan: { name: `m${i}`, turns: planTurns(random, `m${i}`, hasHooks) },
    ...(random.chance(0.5) && { key: `key-${i}` }),
  }));
}

export async function simulate(seed: number, options: SimulationOptions = {}): Promise<SimulationResult> {
  const random = seededRandom(seed);
  const maxCrashes = options.maxCrashes ?? MAX_CRASHES;
  const world = new World(random);
  const hasHooks = random.chance(0.4);
  const isSmall = random.chance(0.5);
  const log: ModelLog = { faults: [], requests: new Map() };
  const violations: string[] = [];
  const admitted: Admitted[] = [];
  let counter = 0;
  let deploys = 0;
  let engine: Engine | undefined;
  let isAlive = (): boolean => false;

  const boot = (): Engine => {
    const instance = world.instance();
    isAlive = instance.isAlive;
    if (random.chance(0.3)) deploys++;
    const version = deploys;
    world.note(`boot (deploy ${version})`);
    const born = createEngine({
      ...instance,
      clock: { now: () => world.now },
      ids: { next: (prefix: IdPrefix) => `${prefix}_${String(counter++).padStart(8, "0")}` },
      random: random.next,
      sandboxKind: "sim",
      createSandboxHost: () => ({ files: undefined as never }),
      findInitialDataFault: () => undefined,
      render: (_born, runtime) =>
        renderSimulatedAgent({ world, instance: instance.number, version, hasHooks, runtime }),
      durabilityOf: () => DEFAULT_DURABILITY,
      resolveModel: () =>
        scriptedModel(world, log, { currentVersion: () => (instance.isAlive() ? version : undefined), isSmall }),
      runAttempt,
      report(event, fields) {
        world.note(`report ${event} ${String(fields.error ?? "").split("\n")[0]}`);
        const isOurs = ["attempt_failed", "settlement_refused", "pass_failed"].includes(event);
        if (isOurs && !isSimulatedCrash(String(fields.error))) violations.push(`${event}: ${fields.error}`);
      },
    });
    const before = world.running();
    if (readSchemaVersion(instance.db) > 0) born.supervisor.pass();
    const after = world.running();
    if (isAlive() && before && !before.isPostponed && after?.id === before.id && after.attempt === before.attempt) {
      violations.push(`2.5: ${before.id} was cut and goes on with nothing`);
    }
    return born;
  };
  /** Runs `work` on a living instance; a crash inside it is part of the game. */
  const onInstance = <T>(work: (engine: Engine) => T): T | undefined => {
    try {
      if (!engine || !isAlive()) engine = boot();
      return work(engine);
    } catch (error) {
      if (error instanceof SimulatedCrash) return undefined;
      throw error;
    }
  };

  // A crash ends what hangs: in some runs there is none after a while, and the deadline must.
  const calmAt = world.now + (random.chance(0.3) ? random.below(30_000) : Number.POSITIVE_INFINITY);
  const mayCrash = (): boolean => world.crashes < maxCrashes && world.now < calmAt;

  const readers = [new SimulatedReader(false), new SimulatedReader(true)];
  const posts = planPosts(random, world.now, hasHooks);
  const aborts: Abort[] = [];
  if (random.chance(0.2)) aborts.push({ at: world.now + random.below(12_000), all: true });
  if (random.chance(0.2)) aborts.push({ at: world.now + random.below(12_000), all: false });

  const receive = (post: Post): void => {
    const message = { kind: "user", body: JSON.stringify(post.plan) } as const;
    const keyed = post.key === undefined ? {} : { idempotencyKey: post.key };
    const receipt = onInstance((living) => living.admit({ ...ADMISSION, message, ...keyed }));
    world.note(`post ${post.plan.name}${post.key ? " keyed" : ""}: ${receipt?.submissionId ?? "no answer"}`);
    if (receipt && isAlive()) {
      admitted.push({ id: receipt.submissionId, plan: post.plan });
      // A caller may repeat a keyed send whenever it likes: it must not count twice.
      if (post.key !== undefined && random.chance(0.3)) posts.push({ ...post, at: world.now + random.below(5000) });
    } else if (post.key !== undefined) {
      // A crash after the commit keeps the row but loses the receipt: whoever has a key sends again.
      posts.push({ ...post, at: world.now + random.below(3000) });
    }
  };
  const cancel = (abort: Abort): void => {
    if (admitted.length === 0) return;
    const target = abort.all ? undefined : random.pick(admitted).id;
    world.note(`abort ${target ?? "all"}`);
    onInstance((living) => living.abort(target));
  };
  const ring = (alarm: number): void => {
    // At least once: late, doubled, or into an instance that crashes over it.
    const times = random.chance(0.1) ? 2 : 1;
    for (let i = 0; i < times; i++) {
      // It is taken out of storage before it is handed over. One that crashes over it before it stored anything is told
      // again; who stored something must have stored the next one first.
      const { commits } = world;
      if (world.alarmAt === alarm) world.clearAlarm();
      onInstance((living) => living.supervisor.pass());
      if (!isAlive() && world.commits === commits && world.alarmAt === undefined) world.setAlarm(alarm);
    }
  };

  for (let step = 0; ; step++) {
    await settleMicrotasks();
    if (engine && isAlive()) violations.push(...findIdle(world));
    violations.push(...findUnwatched(world));
    for (const reader of readers) {
      if (engine && isAlive() && random.chance(0.3)) await reader.poll(engine).catch(ignoreCrash);
    }
    if (mayCrash() && random.chance(0.1)) {
      if (random.chance(0.2)) world.overtake(1 + random.below(60));
      else world.crash("between two steps");
    }
    if (mayCrash() && random.chance(0.35)) world.planCrash(1 + random.below(25));
    if (world.workspace.losses < MAX_LOSSES && random.chance(0.02)) world.workspace.lose();
    const alarmAt = world.alarmAt;
    const ringsAt = alarmAt === undefined ? undefined : alarmAt + (random.chance(0.1) ? random.below(3000) : 0);
    const times = [world.nextTimerAt(), ringsAt, ...[...posts, ...aborts].map((event) => event.at)];
    const next = times.filter((time) => time !== undefined);
    if (next.length === 0) break;
    world.advanceTo(Math.min(...next));
    const post = takeDue(posts, world.now);
    if (post) receive(post);
    const abort = takeDue(aborts, world.now);
    if (abort) cancel(abort);
    const alarm = world.alarmAt;
    if (alarm !== undefined && alarm <= world.now) ring(alarm);
    if (step === MAX_STEPS) {
      violations.push("the run does not come to rest");
      break;
    }
  }

  await settleMicrotasks();
  world.calm();
  const last = boot();
  violations.push(...(await findViolations(world, last, admitted, log)));
  if (hasHooks) violations.push(...findHookViolations(world));
  const { trace, crashes, compactions } = world;
  const { losses } = world.workspace;
  const result = { trace, crashes, compactions, losses, joined: world.count("joined_into IS NOT NULL") };
  if (!last.readInstance()) {
    world.close();
    return { violations, ...result, outcomes: {} };
  }
  const real = JSON.stringify((await readSnapshot(last)).messages);
  for (const reader of readers) {
    await reader.poll(last);
    const seen = JSON.stringify(reader.messages);
    if (seen !== real) violations.push(`a live reader has ${seen}, the snapshot ${real}`);
  }
  const outcomes: Record<string, number> = {};
  for (const outcome of ["completed", "failed", "aborted"]) outcomes[outcome] = world.count(`outcome = '${outcome}'`);
  world.close();
  return { violations, ...result, outcomes };
}

function ignoreCrash(error: unknown): void {
  if (!(error instanceof SimulatedCrash)) throw error;
}
