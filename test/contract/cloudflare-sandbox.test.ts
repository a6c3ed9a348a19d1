/**
 * `cloudflareSandbox()` with real processes over a double of the SDK: what a container adds to the contract's vectors.
 *
 * Source: contract TOOLS 12, 13.3, D13, D14, D18, D21, D26.
 */
import { execFileSync } from "node:child_process";
import { chmod, link, lstat, readFile, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { cloudflareSandbox } from "../../containers/drivers/cloudflare-sandbox.ts";
import type { Sandbox } from "../../containers/sandbox.ts";
import { openSandboxSdk, type SandboxSdkDouble } from "./sandbox-sdk-double.ts";

const script = join(import.meta.dirname, "../../containers/image/berth-exec");
const TIMEOUT_MS = 60_000;
const DIED = { type: "sandbox_died", meta: { reason: "stopped" } };

/** Whether a process with this word among its arguments is alive. */
function isAlive(word: string): boolean {
  return execFileSync("ps", ["-eo", "stat,args"], { encoding: "utf8" })
    .split("\n")
    .some((line) => line.includes(word) && !line.startsWith("Z"));
}

/** A busy machine takes its time to start and to end a process. */
const eventually = <T>(read: () => T) => expect.poll(read, { timeout: 20_000 });

describe.skipIf(process.platform !== "linux")(
  "cloudflareSandbox() over real processes",
  { timeout: TIMEOUT_MS },
  () => {
    let double: SandboxSdkDouble;
    let sandbox: Sandbox;
    const path = (name: string) => join(double.root, "workspace", name);
    /** What the object makes of the same container after a restart. */
    const reopen = () =>
      cloudflareSandbox(double.stub, {
        ...{ cwd: join(double.root, "workspace"), script, stateFolder: join(double.root, "state") },
      }).createSandbox({ id: "c" });

    beforeEach(async () => {
      double = await openSandboxSdk();
      sandbox = await reopen();
    });
    afterEach(() => double.close());

    it("runs a keyed command once, also for an object that was restarted meanwhile", async () => {
      const command = "echo ran >> count; sleep 0.3; cat count";
      const first = sandbox.exec(command, { key: "root/c1" });
      await eventually(() => readFile(path("count"), "utf8").catch(() => "")).toBe("ran\n");
      const again = await (await reopen()).exec(command, { key: "root/c1" });
      expect(again).toEqual({ stdout: "ran\n", stderr: "", exitCode: 0 });
      expect(await first).toEqual(again);
      expect(await (await reopen()).exec(command, { key: "root/c1" })).toEqual(again);
      expect(await readFile(path("count"), "utf8")).toBe("ran\n");
    });

    it("kills the whole tree of a command that is aborted, and the next one works", async () => {
      const word = `61.${Date.now()}`;
      const abort = new AbortController();
      const running = sandbox.exec(`setsid sleep ${word} & sleep ${word}`, { signal: abort.signal });
      await eventually(() => isAlive(word)).toBe(true);
      abort.abort();
      await expect(running).rejects.toMatchObject({ name: "AbortError" });
      await eventually(() => isAlive(word)).toBe(false);
      expect((await sandbox.exec("echo ok")).stdout).toBe("ok\n");
    });

    it("returns with the shell, not with a child in the background, which lives on", async () => {
      const word = `62.${Date.now()}`;
      const { stdout } = await sandbox.exec(`sleep ${word} & echo done`);
      expect(stdout).toBe("done\n");
      expect(isAlive(word)).toBe(true);
    });

    it("answers a timeout with 124 and the output so far", async () => {
      const { stdout, exitCode } = await sandbox.exec("echo partial; sleep 60", { timeoutMs: 300 });
      expect({ stdout, exitCode }).toEqual({ stdout: "partial\n", exitCode: 124 });
    });

    it("keeps the end of a large output and its exit code, and lets at most a mebibyte cross", async () => {
      const { stdout, exitCode, dropped } = await sandbox.exec(
        "head -c 20000000 /dev/zero | tr '\\0' x; echo end; exit 3",
      );
      expect(stdout.endsWith("xend\n")).toBe(true);
      expect(stdout.length).toBeLessThan(1024 * 1024);
      expect(exitCode).toBe(3);
      expect((dropped?.characters ?? 0) + stdout.length).toBe(20_000_004);
    });

    it("runs a command longer than one argument may be", async () => {
      const { stdout } = await sandbox.exec(`printf %s '${"漢".repeat(100_000)}' | wc -m`);
      expect(stdout.trim()).toBe("100000");
      await eventually(() => double.calls.some((call) => call.startsWith("exec rm -f"))).toBe(true);
    });

    it("hands on the variables of the call and none of the server's own", async () => {
      const { stdout } = await sandbox.exec("env", { env: { MINE: "a b'c" } });
      expect(stdout).toContain("MINE=a b'c\n");
      expect(stdout).toContain("PATH=");
      expect(stdout).not.toContain("VITEST");
    });

    it("tells the death of the container in mid-command, runs nothing again, and goes on in the next", async () => {
      const before = await sandbox.generation?.();
      const running = sandbox.exec("echo started > note; sleep 60", { key: "root/c1" });
      await eventually(() => readFile(path("note"), "utf8").catch(() => "")).toBe("started\n");
      const died = expect(running).rejects.toMatchObject(DIED);
      await double.kill();
      await died;
      expect((await sandbox.exec("ls; echo back")).stdout).toBe("back\n");
      const after = await sandbox.generation?.();
      expect(after).not.toBe(before);
      expect(await (await reopen()).generation?.()).toBe(after);
    });

    it("knows a container that took the place of another between two waits for a command", async () => {
      const died = expect(sandbox.exec("touch on; sleep 60", { key: "root/c1" })).rejects.toMatchObject(DIED);
      await eventually(() => sandbox.exists("on")).toBe(true);
      double.endWaits();
      await eventually(() => double.calls.some((call) => call.includes("'--attach'"))).toBe(true);
      await double.replace();
      double.endWaits();
      await died;
    });

    it("waits once for a container that is only starting", async () => {
      double.failAsStarting(1);
      expect((await sandbox.exec("echo up")).stdout).toBe("up\n");
    });

    it("keeps every byte of small and of large files", async () => {
      const bytes = Uint8Array.from({ length: 13_000_001 }, (_, index) => (index * 31 + (index >> 8)) & 0xff);
      await sandbox.writeFile("deep/er/large.bin", bytes);
      expect(Buffer.compare(await readFile(path("deep/er/large.bin")), bytes)).toBe(0);
      expect(Buffer.compare(await sandbox.readFileBuffer("deep/er/large.bin"), bytes)).toBe(0);
      const small = Uint8Array.from({ length: 256 }, (_, index) => index);
      await sandbox.writeFile("small.bin", small);
      expect([...(await sandbox.readFileBuffer("small.bin"))]).toEqual([...small]);
      await sandbox.writeFile("bom.txt", "\ufeffa\r\nb\0c");
      expect(await sandbox.readFile("bom.txt")).toBe("\ufeffa\r\nb\0c");
      expect((await sandbox.readdir("/tmp")).filter((name) => name.startsWith(".berth-write"))).toEqual([]);
    });

    it("writes in place: mode, links and inode stay, for a large file too", async () => {
      await writeFile(path("a.sh"), "old");
      await chmod(path("a.sh"), 0o751);
      await link(path("a.sh"), path("hard"));
      await symlink("a.sh", path("soft"));
      for (const size of [3, 7_000_000]) {
        await sandbox.writeFile("soft", "x".repeat(size));
        expect((await stat(path("hard"))).size).toBe(size);
        expect((await stat(path("a.sh"))).mode & 0o777).toBe(0o751);
        expect((await lstat(path("soft"))).isSymbolicLink()).toBe(true);
      }
    });

    it("refuses to read a pipe or a folder at once, and reads what the kernel makes up", async () => {
      await sandbox.exec("mkfifo pipe; mkdir folder");
      await expect(sandbox.readFile("pipe")).rejects.toThrow(/pipe is not a regular file: it is a fifo\./);
      await expect(sandbox.readFile("folder")).rejects.toThrow(/^EISDIR: /);
      await expect(sandbox.readFile("/dev/zero")).rejects.toThrow("/dev/zero is not a regular file");
      await expect(sandbox.readFile("nope")).rejects.toMatchObject({ code: "ENOENT" });
      expect(await sandbox.readFile("/proc/version")).toMatch(/^Linux/);
    });

    it("works in a workspace that a command removed", async () => {
      await sandbox.exec("rm -rf ../workspace");
      expect((await sandbox.exec("echo x")).exitCode).toBe(1);
      await sandbox.writeFile("new.txt", "there again");
      expect((await sandbox.exec("cat new.txt")).stdout).toBe("there again");
      expect(await sandbox.readdir(".")).toEqual(["new.txt"]);
    });

    it("lists, removes and resolves names as Node does", async () => {
      await sandbox.mkdir("d/e", { recursive: true });
      await sandbox.writeFile("d/-n", "");
      await sandbox.writeFile("d/a\nb", "");
      await sandbox.writeFile("d/.dot", "");
      expect((await sandbox.readdir("d")).sort()).toEqual(["-n", ".dot", "a\nb", "e"]);
      await expect(sandbox.readdir("d/-n")).rejects.toThrow(/^readdir failed for /);
      await expect(sandbox.stat("nope")).rejects.toThrow(/^stat failed for /);
      await symlink("d", path("l"));
      expect(await sandbox.realPath?.("l/new/x")).toBe(path("d/new/x"));
      expect(await sandbox.stat("l")).toMatchObject({ isDirectory: true, isFile: false, isSymbolicLink: true });
      await sandbox.rm("d", { recursive: true });
      expect(await sandbox.exists("d")).toBe(false);
      await sandbox.rm("gone", { force: true });
      await expect(sandbox.rm("gone")).rejects.toMatchObject({ code: "ENOENT" });
    });
  },
);
