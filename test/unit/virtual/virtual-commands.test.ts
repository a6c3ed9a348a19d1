import { describe, expect, it } from "vitest";
import { MAX_EXEC_OUTPUT_UNITS } from "../../../durable-objects/protocol/limits.ts";
import { openDriver, orphansOf } from "./open-driver.ts";

describe("a keyed command of the virtual sandbox", () => {
  it("runs once: the same key answers with the recorded outcome, also after a restart", async () => {
    const { db, run } = openDriver();
    const first = await run("echo x >> log; cat log; echo e >&2; exit 3", { key: "t/1" });
    expect(first).toEqual({ stdout: "x\n", stderr: "e\n", exitCode: 3 });
    expect(await run("echo y >> log", { key: "t/1" })).toEqual(first);
    const reopened = openDriver(db);
    expect(await reopened.run("echo z >> log", { key: "t/1" })).toEqual(first);
    expect(await reopened.print("cat log")).toBe("x\n");
  });

  it("is joined by a second call while it runs", async () => {
    const { run, print } = openDriver();
    const calls = [run("echo x >> log; sleep 0.02; wc -l < log", { key: "k" }), run("echo never", { key: "k" })];
    const [first, second] = await Promise.all(calls);
    expect(first?.stdout.trim()).toBe("1");
    expect(second).toEqual(first);
    expect(await print("cat log")).toBe("x\n");
  });

  it("leaves neither file nor outcome when the commit fails, so that it can run again", async () => {
    const { db, run, print } = openDriver();
    db.run(`CREATE TRIGGER crash BEFORE INSERT ON command_outcomes BEGIN SELECT RAISE(ABORT, 'crash'); END`);
    await expect(run("echo x >> log", { key: "k" })).rejects.toThrow("crash");
    db.run(`DROP TRIGGER crash`);
    expect(await print("ls")).toBe("");
    expect(await run("echo x >> log; cat log", { key: "k" })).toMatchObject({ stdout: "x\n" });
  });

  it("answers with its exit code for ever and with its text for a while; a long text comes back whole", async () => {
    const { db, run } = openDriver();
    const long = "0123456789".repeat(9_000);
    await run(`printf '${long}%s' 好; exit 9`, { key: "old" });
    expect(await run("", { key: "old" })).toEqual({ stdout: `${long}好`, stderr: "", exitCode: 9 });
    for (let index = 0; index < 32; index += 1) await run("true", { key: `k${index}` });
    const late = await run("echo again", { key: "old" });
    expect(late.exitCode).toBe(9);
    expect(late.stdout).toBe("");
    expect(db.all(`SELECT * FROM command_chunks`)).toEqual([]);
  });
});

describe("an aborted command of the virtual sandbox", () => {
  it("rejects at once, changes no file, records nothing under its key, and the next command works", async () => {
    const { run, print } = openDriver();
    const stop = new AbortController();
    const running = run("echo x > half; sleep 30; echo never", { key: "k", signal: stop.signal });
    const reason = new Error("enough");
    setTimeout(() => stop.abort(reason), 10);
    await expect(running).rejects.toMatchObject({ name: "AbortError", cause: reason });
    expect(await print("ls; echo next")).toBe("next\n");
    expect((await run("echo ran", { key: "k" })).stdout).toBe("ran\n");
  });

  it("does not start when it is aborted before its turn", async () => {
    const { run, print } = openDriver();
    const stop = new AbortController();
    const first = run("sleep 0.02; echo 1 >> log");
    const second = run("echo 2 >> log", { signal: stop.signal });
    stop.abort();
    await expect(second).rejects.toThrow();
    await first;
    expect(await print("cat log")).toBe("1\n");
  });

  it("goes on while another caller waits for the same key", async () => {
    const { run } = openDriver();
    const stop = new AbortController();
    const first = run("sleep 0.03; echo done", { key: "k", signal: stop.signal });
    const second = run("", { key: "k" });
    stop.abort();
    await expect(first).rejects.toMatchObject({ name: "AbortError" });
    expect(await second).toMatchObject({ stdout: "done\n" });
  });
});

describe("a command of the virtual sandbox that runs too long", () => {
  it("answers 124 with its output so far, wherever it sleeps, and keeps the files it wrote", async () => {
    const { run, print } = openDriver();
    const cases: [string, string][] = [
      ["echo a; sleep 30; echo no", "a\n"],
      ["for i in 1 2; do echo $i; sleep 30; done", "1\n"],
      ["echo a; (echo b; sleep 30); echo no", "a\nb\n"],
      ["f() { echo in; sleep 30; }; f || echo no", "in\n"],
      ["echo a; bash -c 'echo b; sleep 30'; echo no", "a\nb\n"],
      ["if sleep 30; then echo no; fi", ""],
    ];
    for (const [command, stdout] of cases) {
      expect(await run(command, { timeoutMs: 15 })).toEqual({ stdout, stderr: "", exitCode: 124 });
    }
    expect(await run("echo x > kept; sleep 30", { timeoutMs: 15, key: "k" })).toMatchObject({ exitCode: 124 });
    expect(await print("cat kept")).toBe("x\n");
    expect(await run("echo again", { key: "k" })).toMatchObject({ exitCode: 124, stdout: "" });
  });

  it("is ended by counts when it never sleeps, with a message and a non-zero code", async () => {
    const { run, print } = openDriver();
    for (const command of ["while :; do :; done", "f() { f; }; f", "for ((;;)); do ((x++)); done"]) {
      const { exitCode, stderr } = await run(`echo before; ${command}`);
      expect(exitCode).not.toBe(0);
      expect(stderr).toMatch(/exceeded|too many/);
    }
    expect(await print("echo next")).toBe("next\n");
  }, 30_000);

  it("matches names with many stars at once", async () => {
    const { print } = openDriver();
    const name = `${"a".repeat(60)}b`;
    await print(`touch ${name}`);
    // The second argument is matched by the shell, the first by nothing: `ls` gets it as it is.
    const began = performance.now();
    expect(await print(`ls ${"*a".repeat(20)}*c ${"*a".repeat(20)}*b 2>/dev/null || true`)).toBe(`${name}\n`);
    expect(performance.now() - began).toBeLessThan(5_000);
  });

  it("still runs its own timeout command", async () => {
    expect(await openDriver().print("timeout 0.01 sleep 30; echo $?")).toBe("124\n");
  });

  it("sleeps for real", async () => {
    const start = performance.now();
    await openDriver().print("sleep 0.04");
    expect(performance.now() - start).toBeGreaterThanOrEqual(39);
  });
});

describe("commands of one virtual sandbox", () => {
  it("run one after the other in start order", async () => {
    const { run, print } = openDriver();
    await Promise.all([run("sleep 0.02; echo 1 >> log"), run("echo 2 >> log"), run("echo 3 >> log")]);
    expect(await print("cat log")).toBe("1\n2\n3\n");
  });

  it("keep nothing between them but files, and start with a small fixed environment", async () => {
    const { print } = openDriver();
    await print("cd /tmp; X=1; export Y=2; f() { :; }; set -e");
    expect(await print('pwd; echo "$X$Y"; type f 2>/dev/null; false; echo $HOME $USER $LANG $TZ $SHELL $TERM')).toBe(
      "/workspace\n\n/workspace user C.UTF-8 UTC /bin/bash dumb\n",
    );
    expect(await print("env")).not.toContain("npm_");
    expect(await print("echo $A; pwd", { env: { A: "é" }, cwd: "/tmp" })).toBe("é\n/tmp\n");
  });

  it("have no network and no host runtime", async () => {
    const { run } = openDriver();
    for (const program of ["curl http://localhost", "python3 -c 1", "node -e 1", "js-exec -c 1"]) {
      expect((await run(program)).exitCode).toBe(127);
    }
  });

  it("fail in a directory that is not there, and find /workspace again after it was removed", async () => {
    const { run, print } = openDriver();
    expect(await run("echo x", { cwd: "/nope" })).toEqual({
      stdout: "",
      stderr: "bash: /nope: No such file or directory\n",
      exitCode: 1,
    });
    await print("cd /; rm -r workspace");
    expect(await print("pwd")).toBe("/workspace\n");
  });
});

describe("text and bytes in the virtual shell", () => {
  it("pass UTF-8 through pipes, variables, escapes and files unharmed", async () => {
    const { driver, print } = openDriver();
    await driver.writeFile("/workspace/w.txt", "你好 w\n");
    expect(await print("printf '\\xf0\\x9f\\x98\\x80'")).toBe("😀");
    expect(await print('echo "你好: $(cat w.txt)"')).toBe("你好: 你好 w\n");
    expect(await print("wc -c < w.txt; cat w.txt | tr a-z A-Z; rev w.txt")).toBe("9\n你好 W\nw 好你\n");
    expect(await print("echo é > f; cat f w.txt > g; cat g")).toBe("é\n你好 w\n");
    await print(`printf '%9000s\\n' é > long; echo "$(cat long)" > copy`);
    expect(await driver.readFile("/workspace/copy")).toBe(`${" ".repeat(8999)}é\n`);
  });

  it("carry bytes that are no text through base64, cp, cat and gzip exactly", async () => {
    const { driver, print } = openDriver();
    const bytes = Uint8Array.from({ length: 20_000 }, (_, index) => (index * 7919) >> 4);
    await driver.writeFile("/workspace/in", bytes);
    await print("cp in a; cat in > b; base64 in | base64 -d > c; gzip -c in | gunzip -c > d; head -c 20000 in > e");
    for (const name of ["a", "b", "c", "d", "e"]) {
      expect(Buffer.compare(await driver.readFileBuffer(`/workspace/${name}`), bytes), name).toBe(0);
    }
  });

  it("come back as the tail of at most 1 MiB units, never cut inside a pair", async () => {
    const { driver, run } = openDriver();
    await driver.writeFile("/workspace/emoji", `x${"😀".repeat(600_000)}`);
    const { stdout, exitCode } = await run("cat emoji; exit 5");
    expect(exitCode).toBe(5);
    expect(stdout.length).toBeGreaterThan(MAX_EXEC_OUTPUT_UNITS - 2);
    expect(stdout.length).toBeLessThanOrEqual(MAX_EXEC_OUTPUT_UNITS);
    expect(stdout.isWellFormed()).toBe(true);
  });
});

describe("the shell's files", () => {
  it("are not overwritten where a directory stands", async () => {
    const { run, driver } = openDriver();
    await driver.mkdir("/workspace/d");
    for (const command of ["echo x > d", "cp /workspace/f d/../d2; echo y | tee d"]) {
      expect((await run(`echo f > f; ${command}`)).exitCode, command).not.toBe(0);
    }
    expect((await driver.stat("/workspace/d")).isDirectory).toBe(true);
  });

  it("follow mv, cp -r, ln and process substitution as on a machine", async () => {
    const { db, print } = openDriver();
    await print("mkdir -p a/b; echo 1 > a/b/1; chmod 600 a/b/1; ln -s b a/l; cp -r a c; mv a d; mv d/b/1 d/one");
    expect(await print("find . | sort; cat c/l/1 d/one; stat -c %a c/b/1; readlink c/l")).toBe(
      ". ./c ./c/b ./c/b/1 ./c/l ./d ./d/b ./d/l ./d/one 1 1 600 b ".replaceAll(" ", "\n"),
    );
    expect(await print("cat <(echo p) <(echo q); ls /dev/fd")).toBe("p\nq\n");
    expect(orphansOf(db)).toEqual([]);
  });

  it("stop growing at 32 MiB a command: it fails with a message and what fitted is there", async () => {
    const { driver, run, print } = openDriver();
    await driver.writeFile("/workspace/m", new Uint8Array(12 * 1024 * 1024));
    const { exitCode, stderr } = await run("cp m 1; cp m 2; cp m 3; true");
    expect(exitCode).toBe(1);
    expect(stderr).toContain("No space left on device");
    expect(await print("wc -c < 2; cat 3 2>/dev/null | wc -c")).toBe("12582912\n0\n");
  });
});
