/**
 * One seeded run: clients, a model, commands and crashes on a simulated conversation, until nothing is due; then what
 * must hold is checked from records and wire alone (ARCHITECTURE 4, RUNTIME 0).
 */
import type { Sandbox } from "../../containers/sandbox.ts";
import { createEngine, type Engine } from "../../durable-objects/conversation/engine.ts";
import { Journal } from "../../durable-objects/conversation/store/journal.ts";
import { readSchemaVersion } from "../../durable-objects/conversation/store/migrations.ts";
import { runAttempt } from "../../durable-objects/conversation/turn/run-attempt.ts";
import type { IdPrefix } from "../../durable-objects/protocol/ids.ts";
import { isRecordOf, ROOT_THREAD } from "../../durable-objects/protocol/records.ts";
import type { WireSnapshot } from "../../durable-objects/protocol/wire.ts";
import { seededRandom } from "./random.ts";
import { reduceChunks } from "./reduce-chunks.ts";
import { type ModelLog, type Plan, scriptedModel } from "./scripted-model.ts";
import { SimulatedCrash, settleMicrotasks, World } from "./world.ts";

export interface SimulationResult {
  violations: string[];
  crashes: number;
  losses: number;
  settled: number;
  outcomes: Record<string, number>;
}

const MAX_STEPS = 4000;
const CRASHES_A_RUN = 9;
const LOSSES_A_RUN = 3;

export async function simulate(seed: number): Promise<SimulationResult> {
  const random = seededRandom(seed);
  const world = new World(random);
  const log: ModelLog = { faults: [], requests: [] };
  const model = scriptedModel(world, log);
  const violations: string[] = [];
  const admitted: string[] = [];
  let counter = 0;
  let engine: Engine | undefined;
  let isAlive = (): boolean => false;

  const boot = (): Engine => {
    const instance = world.instance();
    isAlive = instance.isAlive;
    const sandbox: Sandbox = world.sandbox(instance.isAlive);
    const factory = { kind: "sim", createSandbox: async () => sandbox };
    const born = createEngine({
      ...instance,
      clock: { now: () => world.now },
      ids: { next: (prefix: IdPrefix) => `${prefix}_${String(counter++).padStart(8, "0")}` },
      random: random.next,
      sandboxKind: "sim",
      sandboxHost: { files: undefined as never },
      render: () => ({
        instructions: "Do the plan.",
        model: { spec: "sim/sim", thinkingLevel: "off" },
        sandbox: { factory },
        tools: [],
      }),
      resolveModel: () => model,
      runAttempt,
      report(event, fields) {
        const isOurs = event === "attempt_failed" || event === "settlement_refused";
        if (isOurs && !/Crash at a storage write|The instance is gone/.test(String(fields.error))) {
          violations.push(`${event}: ${fields.error}`);
        }
      },
    });
    if (readSchemaVersion(instance.db) > 0) born.supervisor.pass();
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

  const readers = [new SimulatedReader(false), new SimulatedReader(true)];
  const messages = 1 + random.below(4);
  const posts = Array.from({ length: messages }, (_, i) => ({ at: world.now + random.below(9000), i }));
  const abortAt = random.chance(0.3) ? world.now + random.below(12_000) : undefined;
  let isAborted = false;
  for (let step = 0; step < MAX_STEPS; step++) {
    await settleMicrotasks();
    for (const reader of readers) {
      const living = engine;
      if (living && isAlive() && random.chance(0.3)) await reader.poll(living);
    }
    if (world.crashes < CRASHES_A_RUN && random.chance(0.08)) world.crash();
    if (world.crashes < CRASHES_A_RUN && random.chance(0.2)) world.planCrash(1 + random.below(10));
    if (world.losses < LOSSES_A_RUN && random.chance(0.03)) world.loseWorkspace();
    const times = [world.nextTimerAt(), world.alarmAt, ...posts.map((post) => post.at)];
    if (abortAt !== undefined && !isAborted) times.push(abortAt);
    const next = times.filter((time) => time !== undefined);
    if (next.length === 0) break;
    world.advanceTo(Math.min(...next));

    const post = posts.findIndex((candidate) => candidate.at <= world.now);
    if (post >= 0) {
      const [due] = posts.splice(post, 1);
      const plan: Plan = { name: `m${due?.i}`, turns: planTurns(random, `m${due?.i}`) };
      const message = { kind: "user", body: JSON.stringify(plan) } as const;
      const receipt = onInstance((living) => living.admit({ agent: "sim", id: "one", message }));
      // A crash after the commit keeps the row but loses the receipt: such a post is nobody's promise.
      if (receipt && isAlive()) admitted.push(receipt.submissionId);
    }
    if (abortAt !== undefined && !isAborted && world.now >= abortAt) {
      isAborted = true;
      if (admitted.length > 0) onInstance((living) => living.abort());
    }
    const alarm = world.alarmAt;
    if (alarm !== undefined && alarm <= world.now) {
      onInstance((living) => {
        living.supervisor.pass();
        if (world.alarmAt === alarm) world.clearAlarm();
      });
    }
    if (step === MAX_STEPS - 1) violations.push("the run does not come to rest");
  }
  await settleMicrotasks();
  world.calm();
  const last = boot();
  violations.push(...(await check(world, last, admitted, log)));
  if (!last.readInstance())
    return { violations, crashes: world.crashes, losses: world.losses, settled: 0, outcomes: {} };
  const snapshot = await readSnapshot(last);
  for (const reader of readers) {
    await reader.poll(last);
    const [seen, real] = [JSON.stringify(reader.messages), JSON.stringify(snapshot.messages)];
    if (seen !== real) violations.push(`a live reader has ${seen}, the snapshot ${real}`);
  }
  const outcomes: Record<string, number> = {};
  for (const { outcome } of world.records.all<{ outcome: string }>("SELECT outcome FROM submission")) {
    outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
  }
  const settled = Object.values(outcomes).reduce((a, b) => a + b, 0);
  return { violations, crashes: world.crashes, losses: world.losses, settled, outcomes };
}

function planTurns(random: ReturnType<typeof seededRandom>, name: string): string[][] {
  return Array.from({ length: random.below(3) }, (_, turn) =>
    Array.from({ length: 1 + random.below(3) }, (_unused, call) => `${name}.${turn}.${call}`),
  );
}

async function readText(body: string | ReadableStream<Uint8Array>): Promise<string> {
  return typeof body === "string" ? body : new Response(body).text();
}

async function check(world: World, engine: Engine, admitted: readonly string[], log: ModelLog): Promise<string[]> {
  const violations = [...new Set(log.faults)].map((fault) => `provider request: ${fault}`);
  if (!engine.readInstance()) return admitted.length > 0 ? ["a receipt was given and nothing is there"] : violations;
  const journal = new Journal(world.records, { now: () => world.now });
  const records = journal.read(ROOT_THREAD, 0, 100_000);
  const settled = records.filter((record) => isRecordOf(record, "settled")).map((record) => record.body.submissionId);
  for (const id of admitted) {
    const times = settled.filter((other) => other === id).length;
    if (times !== 1) violations.push(`Q3: ${id} has ${times} settlements`);
  }
  for (const record of records) {
    // The model's own faults are tried again; nothing else may fail a submission here.
    if (isRecordOf(record, "settled") && record.body.outcome === "failed") {
      const type = record.body.error?.type;
      if (type !== "provider_failed")
        violations.push(`${record.body.submissionId} failed: ${JSON.stringify(record.body.error)}`);
    }
  }
  const open = world.records.all<{ id: string; state: string }>(
    "SELECT id, state FROM submission WHERE state <> 'settled'",
  );
  for (const row of open) violations.push(`Q3: ${row.id} stays ${row.state}`);
  const order = world.records.all<{ id: string }>("SELECT id FROM submission ORDER BY seq").map((row) => row.id);
  const inputs = records.filter((record) => isRecordOf(record, "input")).map((record) => record.body.submissionId);
  if (inputs.join() !== order.join()) violations.push(`Q2: inputs ${inputs.join()} were admitted as ${order.join()}`);
  if (records.some((record) => record.body.type === "delta")) violations.push("J2: a delta outlived its message");
  if (new Set(world.ledger).size !== world.ledger.length)
    violations.push(`a command ran twice: ${world.ledger.join()}`);
  if (world.alarmAt !== undefined) violations.push("A1: an alarm is stored although nothing is due");

  const calls = records.flatMap((record) =>
    isRecordOf(record, "assistant") ? record.body.message.content.filter((part) => part.type === "toolCall") : [],
  );
  for (const call of calls) {
    const results = records.filter((record) => isRecordOf(record, "tool_result") && record.body.toolCallId === call.id);
    if (results.length !== 1) violations.push(`T1: call ${call.id} has ${results.length} results`);
    const first = results[0];
    if (first && isRecordOf(first, "tool_result") && !first.body.isError) {
      const command = String(call.arguments.command);
      if (!world.ledger.includes(command)) violations.push(`${command} has a result and never ran`);
      const start = records.find((r) => isRecordOf(r, "tool_started") && r.body.toolCallId === call.id);
      if (!start || start.seq > first.seq) violations.push(`T2: ${call.id} has a result before it started`);
    }
  }
  log.requests.forEach((request, i) => {
    const before = log.requests[i - 1];
    if (before && !before.every((message, k) => request[k] === message)) {
      violations.push(`request ${i} does not begin with the one before it`);
    }
  });

  const fromStart = new SimulatedReader(false);
  await fromStart.poll(engine);
  const [seen, real] = [JSON.stringify(fromStart.messages), JSON.stringify((await readSnapshot(engine)).messages)];
  if (seen !== real) violations.push(`the whole stream gives ${seen}, the snapshot ${real}`);
  return violations;
}

async function readSnapshot(engine: Engine): Promise<WireSnapshot> {
  return JSON.parse(await readText((await engine.stream.readHistory()).body)) as WireSnapshot;
}

/** Follows the updates from the beginning or from a snapshot, now and then, across crashes. */
class SimulatedReader {
  readonly #startsFromSnapshot: boolean;
  #after: number | undefined;
  #state: ReturnType<typeof reduceChunks> = { messages: [], settlements: [] };

  constructor(startsFromSnapshot: boolean) {
    this.#startsFromSnapshot = startsFromSnapshot;
  }

  get messages(): WireSnapshot["messages"] {
    return this.#state.messages;
  }

  async poll(engine: Engine): Promise<void> {
    if (!engine.readInstance()) return;
    if (this.#after === undefined && this.#startsFromSnapshot) {
      const snapshot = await readSnapshot(engine);
      this.#state = { messages: snapshot.messages, settlements: [] };
      this.#after = Number(snapshot.offset.slice(-16));
    }
    for (;;) {
      const page = await engine.stream.readUpdates({ after: this.#after ?? 0, live: "none" });
      this.#state = reduceChunks(JSON.parse(await readText(page.body)) as unknown[], this.#state);
      this.#after = Number(page.offset?.slice(-16));
      if (page.upToDate) return;
    }
  }
}
