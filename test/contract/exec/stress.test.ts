/**
 * Many commands that are cut off at any moment, over `local()`: nothing is left behind, the next command works, memory
 * stays bounded. `BERTH_STRESS=1000 npm run test:stress` runs that many; every run prints its figures.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { local } from "../../../containers/drivers/local.ts";
import type { ExecResult, Sandbox } from "../../../containers/sandbox.ts";
import { seededRandom } from "../../sim/random.ts";
import { startLocalServer } from "../drivers/local.ts";

const ROUNDS = Number(process.env.BERTH_STRESS ?? 100);
const AT_ONCE = 8;
const MIB = 1024 * 1024;
vi.setConfig({ testTimeout: 30_000 + ROUNDS * 3000, hookTimeout: 60_000 });

const COMMANDS = [
  "echo x",
  "sleep 600",
  "yes",
  "sleep 600 | sleep 600; sleep 600",
  "(sleep 600; echo late) & wait",
  "trap '' TERM; while :; do sleep 0.1; done",
  "setsid sleep 600 & sleep 600",
  "exec >&- 2>&-; sleep 600",
  "for i in 1 2 3 4 5 6 7 8; do sleep 600 & done; wait",
  "head -c 3000000 /dev/zero; sleep 600",
];

const folder = mkdtempSync(join(tmpdir(), "berth-stress-"));
let sandbox: Sandbox;
let stateFolder = "";

/** Pids that carry the folder's name: in their environment (commands) or on their command line (`berth-exec`). */
function leftBehind(): number[] {
  const read = (pid: number, file: string) => {
    try {
      return readFileSync(`/proc/${pid}/${file}`, "latin1");
    } catch {
      return "";
    }
  };
  return readdirSync("/proc")
    .map(Number)
    .filter((pid) => pid > 0 && pid !== process.pid)
    .filter((pid) => read(pid, "environ").includes(`STRESS=${folder}`) || read(pid, "cmdline").includes(stateFolder));
}

beforeAll(async () => {
  const server = await startLocalServer(folder);
  stateFolder = server.stateFolder;
  const factory = local({ env: { STRESS: folder } });
  sandbox = await factory.createSandbox({ id: "stress", host: { files: undefined as never, local: server } });
});

afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
  rmSync(stateFolder, { recursive: true, force: true });
});

describe.skipIf(process.platform !== "linux")("local() under stress", () => {
  it(`leaves no process behind after ${ROUNDS} commands with an abort or a timeout at a random moment`, async () => {
    const random = seededRandom(Number(process.env.BERTH_STRESS_SEED ?? 1));
    const began = Date.now();
    const ends: Record<string, number> = {};
    const count = (end: string) => {
      ends[end] = (ends[end] ?? 0) + 1;
    };
    let next = 0;
    const round = async (number: number) => {
      const command = random.pick(COMMANDS);
      const afterMs = 1 + random.below(400);
      const key = `cut-${number}`;
      if (random.chance(0.5)) {
        const { exitCode } = await sandbox.exec(command, { key, timeoutMs: afterMs });
        count(exitCode === 124 ? "timeout" : "ended");
        expect([0, 124]).toContain(exitCode);
      } else {
        const aborting = new AbortController();
        setTimeout(() => aborting.abort(), afterMs);
        await sandbox.exec(command, { key, signal: aborting.signal }).then(
          () => count("ended"),
          async (error: Error) => {
            expect(error.name).toBe("AbortError");
            count("abort");
            // The caller was released at once; whoever asks again is told when the command is gone.
            await sandbox.exec(command, { key }).catch(({ name }: Error) => expect(name).toBe("AbortError"));
          },
        );
      }
      const after = await sandbox.exec(`echo ${number}`, { key: `after-${number}` });
      expect(after).toEqual({ stdout: `${number}\n`, stderr: "", exitCode: 0 });
    };
    const worker = async () => {
      while (next < ROUNDS) await round(next++);
    };
    await Promise.all(Array.from({ length: AT_ONCE }, worker));
    const seconds = (Date.now() - began) / 1000;
    // What waits for a command ends a moment after it.
    await vi.waitFor(() => expect(leftBehind()).toEqual([]), { timeout: 30_000, interval: 50 });
    const rss = Math.round(process.memoryUsage().rss / MIB);
    console.log(`stress: ${ROUNDS} commands, ${JSON.stringify(ends)}, ${seconds} s, 0 pids left, RSS ${rss} MiB`);
  });

  it("runs each command of 100 parallel calls with repeated keys once", async () => {
    const keys = Array.from({ length: 100 }, (_, i) => `key-${i % 20}`);
    const run = (key: string): Promise<ExecResult> => sandbox.exec(`echo ${key} >> once; echo ${key}`, { key });
    const results = await Promise.all(keys.map(run));
    expect(results.map(({ stdout }) => stdout)).toEqual(keys.map((key) => `${key}\n`));
    expect((await sandbox.readFile("once")).trim().split("\n").sort()).toEqual([...new Set(keys)].sort());
  });

  it("keeps memory bounded over 200 MB of output", async () => {
    const before = process.memoryUsage().rss;
    const { stdout, dropped, exitCode } = await sandbox.exec("head -c 200000000 /dev/zero | tr '\\0' x");
    expect({ exitCode, characters: stdout.length + (dropped?.characters ?? 0) }).toEqual({
      exitCode: 0,
      characters: 200_000_000,
    });
    expect((process.memoryUsage().rss - before) / MIB).toBeLessThan(64);
  });
});
