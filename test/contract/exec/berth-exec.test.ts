/** The script through which commands run on real machines. Source: ARCHITECTURE 5; contract TOOLS D8, D13, D14, D18. */
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, rmSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it, vi } from "vitest";
import { EXIT_NO_USER, resultOf, sweepArguments } from "../../../containers/exec-script.ts";
import { ExecLab, SCRIPT } from "./exec-process.ts";

vi.setConfig({ testTimeout: 60_000 });

const lab = new ExecLab();
const file = (name: string) => join(lab.folder, name);
const linesOf = (name: string) => readFileSync(file(name), "utf8").trim().split("\n");
const result = async (...args: Parameters<ExecLab["run"]>) => resultOf(await lab.run(...args).answer);
const untilThere = (name: string) => vi.waitUntil(() => existsSync(file(name)), { timeout: 20_000, interval: 20 });
const untilGone = () => vi.waitUntil(() => lab.processes().length === 0, { timeout: 20_000, interval: 50 });

afterAll(() => lab.close());

describe.skipIf(process.platform !== "linux")("berth-exec", () => {
  it("runs bash without a login, with stdin closed, and gives both streams and the code", async () => {
    const command = 'cat; echo "$0 $#"; pwd; echo é >&2; exit 7';
    const { stdout, stderr, exitCode } = await result(command);
    expect(stdout).toMatch(new RegExp(`^/\\S+/bash 0\\n${lab.folder}\\n$`));
    expect({ stderr, exitCode }).toEqual({ stderr: "é\n", exitCode: 7 });
  });

  it("runs text of any length and keeps it byte for byte", async () => {
    const text = `${"x".repeat(300_000)}é`;
    expect((await result(`printf %s '${text}'`)).stdout).toBe(text);
    expect((await result("cat <<EOF\nopen end")).stdout).toBe("open end\n");
    expect((await result(`: ${" ".repeat(200_000)}\necho $0 \${__berth-unset}`)).stdout).toMatch(/bash unset\n$/);
  });

  it("does not run text that was cut short on its way", async () => {
    const cut = lab.run(`touch ${file("cut")}; true`, { stdin: Buffer.from(`touch ${file("cut")}`) });
    expect(await cut.raw).toMatchObject({ code: 65, stderr: expect.stringContaining("cut short") });
    expect(existsSync(file("cut"))).toBe(false);
  });

  it("hands on the allowlist and what it is given, and nothing else of its environment", async () => {
    process.env.BERTH_CANARY = "canary";
    const { stdout } = await result("env", { env: { MINE: "a b\nc" } });
    delete process.env.BERTH_CANARY;
    expect(stdout).toContain("MINE=a b\nc\n");
    expect(stdout).toContain("PATH=");
    expect(stdout).not.toContain("CANARY");
  });

  it("answers a folder that is not there as a shell that could not start", async () => {
    expect(await result("echo x", { cwd: "/nowhere" })).toMatchObject({
      exitCode: 1,
      stderr: expect.stringMatching(/^spawn \S+ ENOENT$/),
    });
  });

  it("tells by which signal a command died", async () => {
    expect((await result("kill -9 $$")).exitCode).toBe(137);
  });

  it("gives the recorded outcome to whoever asks again", async () => {
    const command = `echo x >> ${file("twice")}; echo out; exit 3`;
    const first = await result(command, { id: "twice" });
    expect(await result(command, { id: "twice" })).toEqual(first);
    expect(linesOf("twice")).toEqual(["x"]);
  });

  it("lets a second call attach, and the first one's death stops nothing", async () => {
    const command = `echo x >> ${file("attach")}; touch ${file("on")}; sleep 0.5; echo end`;
    const first = lab.run(command, { id: "attach" });
    await untilThere("on");
    first.kill();
    expect((await result(command, { id: "attach" })).stdout).toBe("end\n");
    expect(linesOf("attach")).toEqual(["x"]);
  });

  it("runs each of 100 parallel calls under 10 ids once", async () => {
    const calls = Array.from({ length: 100 }, (_, i) =>
      result(`echo ${i % 10} >> ${file("once")}; echo ${i % 10}`, { id: `once-${i % 10}` }),
    );
    const outcomes = await Promise.all(calls);
    expect(outcomes.map(({ stdout }) => stdout)).toEqual(outcomes.map((_, i) => `${i % 10}\n`));
    expect(linesOf("once").sort()).toEqual(["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"]);
  });

  it("says that a command is lost when its runner died, kills what is left of it and never runs it again", async () => {
    const command = `echo x >> ${file("lost")}; sleep 600`;
    const first = lab.run(command, { id: "lost" });
    await untilThere("lost");
    const [runner = ""] = readFileSync(join(lab.stateFolder, "lost/claim"), "utf8").split(" ");
    process.kill(Number(runner), "SIGKILL");
    expect((await first.answer).state).toBe("lost");
    expect((await lab.run(command, { id: "lost" }).answer).state).toBe("lost");
    expect(linesOf("lost")).toEqual(["x"]);
    await untilGone();
  });

  it("does not start what it may only attach to", async () => {
    const { state } = await lab.run(`touch ${file("unknown")}`, { attachOnly: true }).answer;
    expect(state).toBe("unknown");
    expect(existsSync(file("unknown"))).toBe(false);
  });

  it("forgets an outcome that is asked for once", async () => {
    await result("echo x", { id: "forget", once: true });
    expect(existsSync(join(lab.stateFolder, "forget"))).toBe(false);
  });

  it("returns with the shell and lets its background child live, and print, on (D13)", async () => {
    const loop = `(while [ ! -e ${file("stop")} ]; do echo tick; sleep 0.02; done; touch ${file("stopped")}) &`;
    const { stdout, exitCode } = await result(`${loop} echo done`);
    expect(stdout).toContain("done\n");
    expect(exitCode).toBe(0);
    expect(lab.processes().length).toBeGreaterThan(0);
    await result(`touch ${file("stop")}`);
    await untilThere("stopped");
    await untilGone();
  });

  it.each([
    ["sleeps", "echo partial; sleep 600"],
    ["ignores TERM", "trap '' TERM; echo partial; while :; do sleep 0.1; done"],
    ["forks into a session of its own", "setsid sleep 600 & echo partial; wait"],
    ["does so and drops its environment", "env -i setsid sleep 600 & echo partial; sleep 600"],
    ["has such a child that ignores TERM", "env -i setsid sh -c 'trap \"\" TERM; sleep 600' & echo partial; sleep 600"],
    ["closes its output", "echo partial; exec >&- 2>&-; sleep 600"],
    ["prints without an end", "echo partial >&2; yes"],
  ])("ends all processes of a command that %s, with 124 and the output so far (D14)", async (_what, command) => {
    const { stdout, stderr, exitCode } = await result(command, { timeoutMs: 1000 });
    expect(exitCode).toBe(124);
    expect(stdout + stderr).toContain("partial");
    await untilGone();
    expect((await result("echo next")).stdout).toBe("next\n");
  });

  it("ends a shell before it can go on behind a killed child", async () => {
    const late = Array.from({ length: 10 }, () => `(sleep 600; touch ${file("went-on")}) &`).join(" ");
    await result(`${late} wait`, { timeoutMs: 300 });
    expect(existsSync(file("went-on"))).toBe(false);
  });

  it("lets a command clean up, and tells it to end only once", async () => {
    const command = "trap 'echo told; sleep 0.3; echo clean; exit' TERM; while :; do sleep 0.05; done";
    expect(await result(command, { timeoutMs: 300 })).toMatchObject({ stdout: "told\nclean\n", exitCode: 124 });
  });

  it("counts the timeout from the first start", async () => {
    const first = lab.run(`touch ${file("deadline")}; sleep 600`, { id: "deadline", timeoutMs: 700 });
    await untilThere("deadline");
    expect((await result("sleep 600", { id: "deadline", timeoutMs: 600_000 })).exitCode).toBe(124);
    expect((await first.answer).result.exitCode).toBe(124);
  });

  it("ends a command on an abort, also one that has yet to start", async () => {
    const running = lab.run(`touch ${file("running")}; echo partial; sleep 600`, { id: "aborted" });
    await untilThere("running");
    await lab.abort("aborted");
    expect(lab.processes().filter((pid) => pid > 0 && readCommand(pid).startsWith("sleep"))).toEqual([]);
    expect(await running.answer).toMatchObject({ state: "aborted", result: { stdout: "partial\n" } });

    await lab.abort("early");
    expect((await lab.run(`touch ${file("early")}`, { id: "early" }).answer).state).toBe("aborted");
    expect(existsSync(file("early"))).toBe(false);
  });

  it("keeps the end of a large output and counts all of it (D8, D18)", async () => {
    const { stdout, dropped } = await result("yes é | head -n 4000000; printf end", { id: "large" });
    expect(Buffer.byteLength(stdout)).toBeLessThanOrEqual(768 * 1024);
    expect(stdout).toMatch(/^[é\n]+end$/);
    const held = [...stdout].length;
    expect(held + (dropped?.characters ?? 0)).toBe(8_000_003);
    expect(stdout.split("\n").length - 1 + (dropped?.lines ?? 0)).toBe(4_000_000);
    expect(readFileSync(join(lab.stateFolder, "large/answer")).byteLength).toBeLessThan(1024 * 1024);
  });

  it("says nothing of an output that was kept whole", async () => {
    expect(await result("head -c 786432 /dev/zero | tr '\\0' x")).not.toHaveProperty("dropped");
    expect(await result("head -c 786433 /dev/zero | tr '\\0' x")).toMatchObject({
      dropped: { lines: 0, characters: 1 },
    });
  });

  it("is binary-safe, in base64 too", async () => {
    const command = "printf 'a\\0\\377\\r\\n'";
    const whole = await result(command);
    expect(whole.stdout).toBe("a\0\ufffd\r\n");
    expect(await result(command, { base64: true })).toEqual(whole);
  });

  it("sweeps what ended more than a day ago, and nothing that still runs", async () => {
    const yesterday = new Date(Date.now() - 25 * 3_600_000);
    await result("true", { id: "old" });
    await result("true", { id: "new" });
    const running = lab.run(`touch ${file("sweeping")}; sleep 600`, { id: "long" });
    await untilThere("sweeping");
    for (const id of ["old", "long"]) utimesSync(join(lab.stateFolder, id), yesterday, yesterday);
    spawnSync("bash", [SCRIPT, ...sweepArguments(lab.stateFolder)]);
    const left = ["old", "new", "long"].filter((id) => existsSync(join(lab.stateFolder, id)));
    expect(left).toEqual(["new", "long"]);
    await lab.abort("long");
    await running.answer;
    rmSync(file("sweeping"));
  });

  it.skipIf(process.getuid?.() !== 0)("runs as another user when it is root", async () => {
    const { stdout } = await result("id -u; echo $HOME; echo x > /dev/stdout", {
      user: "1234",
      cwd: "/",
      env: { HOME: "/workspace" },
    });
    expect(stdout).toBe("1234\n/workspace\nx\n");
  });

  it("does not start the command of a user that the machine does not know", async () => {
    const request = { user: "no-such-user", id: "nobody" };
    expect(await lab.run("true", request).raw).toMatchObject({
      code: EXIT_NO_USER,
      stderr: "berth-exec: there is no user no-such-user\n",
    });
    expect(existsSync(join(lab.stateFolder, "nobody"))).toBe(false);
  });
});

function readCommand(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8");
  } catch {
    return "";
  }
}
