/** The driver of `container()` on real containers: life and death of the machine, kills, keys, volume. */
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { describe, expect, inject, it } from "vitest";
import type { ProgramResult } from "../../containers/container-rpc.ts";
import type { ExecResult } from "../../containers/sandbox.ts";
import { listTree } from "../processes/process-tree.ts";
import { seededRandom } from "../sim/random.ts";
import { type BridgedSandbox, type BridgeOptions, bridgedSandbox } from "./bridge/bridge-client.ts";

/** Commands of the storm; the milestone's figure is 1 000. */
const COMMANDS = Number(process.env.LAB_COMMANDS ?? 100);
const SEED = Number(process.env.LAB_SEED ?? 1);
const STORM_MS = 600_000 + COMMANDS * 4_000;
const MEMORY_ABOVE_REST_MB = 64;
const url = inject("bridgeUrl") ?? "";

async function withSandbox(options: Partial<BridgeOptions>, work: (open: BridgedSandbox) => Promise<void>) {
  const open = bridgedSandbox({ url, ...options });
  try {
    await work(open);
  } finally {
    await open.call("destroyContainer");
  }
}

async function asRoot({ call }: BridgedSandbox, script: string): Promise<string> {
  const options = { operation: "exec", cwd: "/", maxBytes: 1024 * 1024 };
  const { stdout } = (await call("runProgram", ["bash", "-c", script], options)) as ProgramResult;
  return Buffer.from(stdout).toString();
}

/** Processes of the tools' user, zombies of anyone included. */
const LEFT_OVER = `ps -eo user=,stat=,args= | awk '$1 == "berth" || $2 ~ /^Z/'`;

describe("the container's life", () => {
  it("begins with the first call and not with a question", async () => {
    await withSandbox({}, async ({ sandbox, call }) => {
      expect(await sandbox.generation?.()).toBeUndefined();
      expect(await call("isRunning")).toBe(false);
      expect(await sandbox.exec("id -un; echo $HOME; pwd")).toMatchObject({
        stdout: "berth\n/workspace\n/workspace\n",
      });
      expect(await sandbox.generation?.()).toMatch(/^[0-9a-f-]{36}$/);
    });
  });

  it("ends under a call with an error that says so; the next call has a new machine", async () => {
    await withSandbox({}, async ({ sandbox, call }) => {
      await sandbox.writeFile("kept.txt", "keep");
      const before = await sandbox.generation?.();
      const cut = sandbox.exec("sleep 60", { key: "root/c1" }).catch((error: unknown) => error);
      await expect.poll(async () => (await sandbox.exec("pgrep -u berth -c -x sleep")).stdout).toBe("1\n");
      await call("destroyContainer");
      expect(await cut).toMatchObject({
        name: "SandboxDiedError",
        type: "sandbox_died",
        message: "Sandbox exec failed: the sandbox stopped while the call was in flight.",
      });
      expect(await sandbox.generation?.()).toBeUndefined();
      expect(await sandbox.exec("ls -A; echo back")).toMatchObject({ stdout: "back\n", exitCode: 0 });
      expect(await sandbox.generation?.()).not.toBe(before);
    });
  });

  it("goes on as long as a command is at work, and ends when nothing is", async () => {
    await withSandbox({ sleepAfterMs: 2_000 }, async ({ sandbox, call }) => {
      const command = "for i in $(seq 1 6); do sleep 1; done; echo survived";
      expect(await sandbox.exec(command)).toMatchObject({ stdout: "survived\n" });
      await expect.poll(() => call("isRunning"), { timeout: 15_000 }).toBe(false);
      expect(await sandbox.exec("echo awake")).toMatchObject({ stdout: "awake\n" });
    });
  });
});

describe("a command in the container", () => {
  it("runs once under its key, whoever asks and how often", async () => {
    await withSandbox({}, async ({ sandbox }) => {
      const ask = () => sandbox.exec("echo run >> runs; sleep 1; wc -l < runs", { key: "root/k1" });
      const answers = await Promise.all([ask(), ask(), ask()]);
      expect([...answers, await ask()].map(({ stdout }) => stdout)).toEqual(["1\n", "1\n", "1\n", "1\n"]);
    });
  });

  it("leaves the machine usable when it is stuck, unclosed or broken", async () => {
    await withSandbox({}, async ({ sandbox }) => {
      const stuck = await sandbox.exec("echo so far; sleep 600", { timeoutMs: 1_000 });
      expect(stuck).toMatchObject({ stdout: "so far\n", exitCode: 124 });
      expect(await sandbox.exec("cat <<EOF\nopen end")).toMatchObject({ stdout: expect.stringContaining("open end") });
      expect((await sandbox.exec("echo 'unclosed")).exitCode).not.toBe(0);
      expect(await sandbox.exec("echo ok # tail")).toMatchObject({ stdout: "ok\n", exitCode: 0 });
      expect(await sandbox.exec("sleep 20 & echo done")).toMatchObject({ stdout: "done\n" });
    });
  });

  it("refuses to read what is no file, and reports it within its deadline", async () => {
    await withSandbox({}, async ({ sandbox }) => {
      await sandbox.exec("mkfifo pipe; mkdir folder; echo no > closed; chmod 000 closed");
      await expect(sandbox.readFile("pipe")).rejects.toThrow("/workspace/pipe is not a regular file (fifo).");
      await expect(sandbox.readFile("/dev/zero")).rejects.toThrow("not a regular file (character special file)");
      await expect(sandbox.readFile("folder")).rejects.toThrow("EISDIR: illegal operation on a directory, read");
      await expect(sandbox.readFile("closed")).rejects.toThrow("EACCES: permission denied, open '/workspace/closed'");
      await expect(sandbox.writeFile("pipe", "x")).rejects.toThrow("not a regular file (fifo)");
    });
  });

  it(`leaves no process behind, ${COMMANDS} times cut at random, and the next one works`, {
    timeout: STORM_MS,
  }, async () => {
    const random = seededRandom(SEED);
    const shapes = [
      "sleep 60",
      "trap '' TERM; sleep 60 & sleep 60",
      "setsid sleep 60 & setsid sleep 61; sleep 60",
      "yes | head -c 100000000 | wc -c; sleep 60",
      "(sleep 60 & sleep 60) | cat",
      "while :; do sleep 0.05; done",
      "nohup sleep 60 >/dev/null 2>&1 & wait",
      "bash -c 'bash -c \"sleep 60\" & wait' & sleep 60",
      "echo quick",
    ];
    await withSandbox({}, async (open) => {
      const { sandbox } = open;
      await sandbox.exec("true");
      for (let at = 0; at < COMMANDS; at++) {
        const command = shapes[random.below(shapes.length)] ?? "";
        const afterMs = 1 + random.below(600);
        const key = random.chance(0.5) ? { key: `root/${randomUUID()}` } : {};
        if (random.chance(0.5)) {
          await sandbox.exec(command, { timeoutMs: afterMs, ...key });
        } else {
          await sandbox.exec(command, { signal: AbortSignal.timeout(afterMs), ...key }).catch(() => {});
        }
        expect(await sandbox.exec(`echo ${at}`), `after ${command}`).toMatchObject({ stdout: `${at}\n`, exitCode: 0 });
      }
      await expect.poll(() => asRoot(open, LEFT_OVER), { timeout: 20_000 }).toBe("");
    });
  });

  it("costs the object little memory, however much it prints", async () => {
    await withSandbox({}, async ({ sandbox }) => {
      await sandbox.exec("head -c 300000000 /dev/zero | tr '\\0' x > wide.txt");
      await Promise.all(Array.from({ length: 4 }, () => sandbox.exec("yes | head -c 2000000")));
      const rest = workerdMegabytes();
      let most = rest;
      const watch = setInterval(() => {
        most = Math.max(most, workerdMegabytes());
      }, 20);
      const outputs: ExecResult[] = await Promise.all([
        ...Array.from({ length: 3 }, () => sandbox.exec("yes some words of output | head -c 500000000")),
        sandbox.exec("cat wide.txt"),
        sandbox.exec("cat wide.txt >&2"),
      ]);
      clearInterval(watch);
      for (const { stdout, stderr } of outputs) expect(stdout.length + stderr.length).toBeLessThanOrEqual(1024 * 1024);
      console.log(`memory of workerd: ${rest} MB at rest, ${most} MB at most`);
      expect(most - rest).toBeLessThan(MEMORY_ABOVE_REST_MB);
    });
  });
});

/** Resident memory of the runtime's processes. */
function workerdMegabytes(): number {
  const kilobytes = listTree(inject("bridgePid") ?? 0).map(({ pid }) => {
    try {
      const status = readFileSync(`/proc/${pid}/status`, "utf8");
      return status.startsWith("Name:\tworkerd") ? Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1] ?? 0) : 0;
    } catch {
      return 0;
    }
  });
  return Math.round(kilobytes.reduce((sum, each) => sum + each, 0) / 1024);
}
