/**
 * `cloudflareSandbox()` with real processes over a double of the SDK: what a container adds to the contract's vectors.
 *
 * Source: contract TOOLS 12, 13.3, D13, D14, D18, D21, D26.
 */
import { execFileSync } from "node:child_process";
import { lstat, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type CloudflareSandboxOptions, cloudflareSandbox } from "../../containers/drivers/cloudflare-sandbox.ts";
import type { Sandbox } from "../../containers/sandbox.ts";
import { isRoot, openSandboxSdk, type SandboxSdkDouble, UNPRIVILEGED as USER } from "./sandbox-sdk-double.ts";

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
    const reopen = (options: CloudflareSandboxOptions = {}) =>
      cloudflareSandbox(double.stub, {
        ...{ cwd: join(double.root, "workspace"), user: double.user, script, stateFolder: join(double.root, "state") },
        ...options,
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
      await sandbox.exec("echo old > a.sh; chmod 751 a.sh; ln a.sh hard; ln -s a.sh soft");
      for (const size of [0, 3, 100_000, 7_000_000]) {
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
      await sandbox.exec("ln -s d l");
      expect(await sandbox.realPath?.("l/new/x")).toBe(path("d/new/x"));
      expect(await sandbox.stat("l")).toMatchObject({ isDirectory: true, isFile: false, isSymbolicLink: true });
      await sandbox.rm("d", { recursive: true });
      expect(await sandbox.exists("d")).toBe(false);
      await sandbox.rm("gone", { force: true });
      await expect(sandbox.rm("gone")).rejects.toMatchObject({ code: "ENOENT" });
      await sandbox.mkdir("e");
      await expect(sandbox.mkdir("e")).rejects.toMatchObject({ code: "EEXIST" });
      await expect(sandbox.writeFile("e", "x")).rejects.toThrow(/^EISDIR: .*, open '\S+\/e'$/);
    });

    it("does not wait for the reader of a pipe that it is to write", async () => {
      await sandbox.exec("mkfifo pipe");
      await expect(sandbox.writeFile("pipe", "x")).rejects.toThrow(/^writeFile failed for \S+: it is a fifo/);
    });

    describe.skipIf(!isRoot)("as an unprivileged user", () => {
      const ownerOf = async (file: string) => (await sandbox.exec(`stat -c %U -- ${file}`)).stdout.trim();

      it("runs commands, whose home is the workspace", async () => {
        const { stdout } = await sandbox.exec(
          'id -un; id -Gn; echo "$HOME $USER $LOGNAME"; touch made; stat -c %U made',
        );
        const workspace = join(double.root, "workspace");
        expect(stdout).toBe(`${USER}\nnogroup\n${workspace} ${USER} ${USER}\n${USER}\n`);
        expect((await sandbox.exec("echo $HOME", { env: { HOME: "/own" } })).stdout).toBe("/own\n");
      });

      it("writes files and folders that a command can change, whatever their size", async () => {
        await sandbox.writeFile("new/deep/small", "a");
        await sandbox.writeFile("large", "x".repeat(7_000_000));
        await sandbox.mkdir("folder");
        for (const file of ["new", "new/deep", "new/deep/small", "large", "folder"])
          expect(await ownerOf(file)).toBe(USER);
        const changed = await sandbox.exec(
          "echo b >> new/deep/small && echo y >> large && mv large folder/ && cat new/deep/small",
        );
        expect(changed).toMatchObject({ stdout: "ab\n", exitCode: 0 });
      });

      it("reads and writes what a command made for itself alone, and leaves owner and mode", async () => {
        await sandbox.exec("umask 077; mkdir own; echo secret > own/file; truncate -s 7000000 own/large");
        expect(await sandbox.readFile("own/file")).toBe("secret\n");
        expect((await sandbox.readFileBuffer("own/large")).length).toBe(7_000_000);
        expect(await sandbox.readdir("own")).toHaveLength(2);
        await sandbox.writeFile("own/file", "new");
        expect((await sandbox.exec("stat -c '%U %a' own/file; cat own/file")).stdout).toBe(`${USER} 600\nnew`);
        await sandbox.rm("own", { recursive: true });
        expect(await sandbox.exists("own")).toBe(false);
      });

      it("cannot do by a file verb what a command could not", async () => {
        const denied = { code: "EACCES" };
        const secret = join(double.root, "secret");
        await writeFile(secret, "root's", { mode: 0o600 });
        await sandbox.exec(`ln -s ${secret} link`);
        for (const file of [secret, "link"]) {
          await expect(sandbox.readFile(file)).rejects.toThrow(
            `EACCES: permission denied, open '${sandbox.resolvePath(file)}'`,
          );
          await expect(sandbox.writeFile(file, "x")).rejects.toMatchObject(denied);
        }
        await expect(sandbox.rm(secret)).rejects.toMatchObject({ code: "EPERM" });
        await expect(sandbox.rm(secret, { force: true })).rejects.toThrow(/^rm failed for /);
        await expect(sandbox.mkdir("/proc/x")).rejects.toThrow(/^mkdir failed for /);
        expect(await readFile(secret, "utf8")).toBe("root's");
      });

      it("cannot reach what berth-exec knows of its commands", async () => {
        await sandbox.exec("echo once", { key: "root/c1" });
        const state = join(double.root, "state");
        const [id = ""] = await sandbox.readdir(state);
        await expect(sandbox.readdir(join(state, id))).rejects.toMatchObject({ code: "EACCES" });
        await expect(sandbox.readFile(join(state, id, "answer"))).rejects.toMatchObject({ code: "EACCES" });
        expect((await sandbox.exec(`rm -rf ${state}`)).exitCode).toBe(1);
        expect((await sandbox.exec("echo again", { key: "root/c1" })).stdout).toBe("once\n");
      });

      it("has all processes of a command ended by a timeout", async () => {
        const word = `63.${Date.now()}`;
        const { exitCode } = await sandbox.exec(`setsid sleep ${word} & sleep ${word}`, { timeoutMs: 300 });
        expect([exitCode, isAlive(word)]).toEqual([124, false]);
      });

      it("says so where the image has no such user, and runs nothing as anybody else", async () => {
        const nobodyKnown = await reopen({ user: { name: "no-such-user", home: "/" } });
        const told = /image has no user no-such-user\. .*sandbox\.Dockerfile.*cloudflareSandbox/;
        await expect(nobodyKnown.exec(`touch ${path("ran")}`)).rejects.toThrow(told);
        await expect(nobodyKnown.writeFile("ran", "x")).rejects.toThrow(told);
        await expect(nobodyKnown.readFile("/etc/hostname")).rejects.toThrow(told);
        expect(await sandbox.exists("ran")).toBe(false);
      });

      it("is left to the SDK's own on request", async () => {
        const own = await reopen({ user: null });
        await own.writeFile("mine", "x");
        expect((await own.exec("id -un; stat -c %U mine; echo $HOME")).stdout).toBe(
          `root\nroot\n${double.root}/home\n`,
        );
      });
    });
  },
);
