/** `local()` and the process behind it. Source: contract TOOLS 13.1, D21, D24. */
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import * as fs from "node:fs/promises";
import { request, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { type LocalOptions, local } from "../../../containers/drivers/local.ts";
import { createLocalCommands } from "../../../containers/local/local-commands.ts";
import { MAX_LOCAL_FILE_BYTES } from "../../../containers/local/local-protocol.ts";
import { createLocalServer } from "../../../containers/local/local-server.ts";
import type { Sandbox } from "../../../containers/sandbox.ts";
import { SCRIPT } from "../exec/exec-process.ts";

vi.setConfig({ testTimeout: 30_000 });

const TOKEN = "secret";
let root = "";
let server: Server;
let port = 0;

async function listen(atPort = 0): Promise<Server> {
  const created = createLocalServer({
    token: TOKEN,
    folder: join(root, "{id}"),
    commands: createLocalCommands({
      script: SCRIPT,
      stateFolder: join(root, ".state"),
      environment: { PATH: process.env.PATH ?? "", HOME: "/home/someone" },
    }),
  });
  created.listen(atPort, "127.0.0.1");
  await once(created, "listening");
  return created;
}

beforeAll(async () => {
  root = await fs.realpath(await fs.mkdtemp(join(tmpdir(), "berth-local-test-")));
  server = await listen();
  port = (server.address() as AddressInfo).port;
});

afterAll(async () => {
  server.closeAllConnections();
  server.close();
  await fs.rm(root, { recursive: true, force: true });
});

function open(id: string, options: LocalOptions = {}, address = { url: `http://127.0.0.1:${port}`, token: TOKEN }) {
  const workspace = { objectName: `coder/${id}`, uid: "inst_1" };
  return local(options).createSandbox({ id, host: { files: undefined as never, local: address, workspace } });
}

describe.skipIf(process.platform !== "linux")("local()", () => {
  it("gives each conversation a folder of its own, whatever its id", async () => {
    const [a, b] = await Promise.all([open("a"), open("../..")]);
    expect(a.cwd).toBe(join(root, "a"));
    expect(b.cwd).toBe(join(root, "%2E%2E%2F%2E%2E"));
    await a.writeFile("deep/x.txt", "1");
    expect(await b.exists("deep/x.txt")).toBe(false);
    expect(await open("a", { cwd: "deep" }).then((sandbox) => sandbox.readFile("x.txt"))).toBe("1");
  });

  it("lets commands inherit the base environment and its own, and nothing else", async () => {
    const { stdout } = await (await open("env", { env: { MINE: "1", HOME: undefined } })).exec("env | cut -d= -f1", {
      env: { CALL: "2" },
    });
    const names = stdout.trim().split("\n").sort();
    expect(names).toEqual(["BERTH_EXEC_ID", "CALL", "MINE", "PATH", "PWD", "SHLVL", "_"]);
  });

  it("refuses an env that is no record", () => {
    expect(() => local({ env: [] as never })).toThrow(
      "[flue] local() `env` must be a Record<string, string | undefined>.",
    );
  });

  it("passes on what Node's file system says, with the real path", async () => {
    const sandbox = await open("errors");
    const nope = join(sandbox.cwd, "nope");
    await expect(sandbox.readFile("nope")).rejects.toThrow(`ENOENT: no such file or directory, open '${nope}'`);
    await expect(sandbox.readFile(".")).rejects.toThrow("EISDIR: illegal operation on a directory, read");
    await expect(sandbox.rm("nope")).rejects.toMatchObject({ code: "ENOENT" });
    await sandbox.writeFile("file", "x");
    await expect(sandbox.readFile("file/x")).rejects.toThrow(`ENOTDIR: not a directory, open '${sandbox.cwd}/file/x'`);
    await expect(sandbox.readdir("file")).rejects.toThrow("ENOTDIR");
  });

  it("names what cannot be read because it is no regular file, at once (D21)", async () => {
    const sandbox = await open("pipes");
    execFileSync("mkfifo", [join(sandbox.cwd, "live.pipe")]);
    const message = `${sandbox.cwd}/live.pipe is not a regular file: it is a named pipe.`;
    await expect(sandbox.readFile("live.pipe")).rejects.toThrow(message);
    await expect(sandbox.writeFile("live.pipe", "x")).rejects.toThrow(message);
    await expect(sandbox.readFile("/dev/zero")).rejects.toThrow(
      "/dev/zero is not a regular file: it is a character device.",
    );
  });

  it("writes in place, through links, and keeps mode and inode (D26)", async () => {
    const sandbox = await open("links");
    await sandbox.writeFile("script", "old");
    await fs.chmod(join(sandbox.cwd, "script"), 0o755);
    await fs.symlink("script", join(sandbox.cwd, "link"));
    const { ino } = await fs.stat(join(sandbox.cwd, "script"));
    await sandbox.writeFile("link", new Uint8Array([0, 255, 10]));
    expect([...(await sandbox.readFileBuffer("script"))]).toEqual([0, 255, 10]);
    expect(await fs.stat(join(sandbox.cwd, "script"))).toMatchObject({ ino, mode: 0o100755 });
    expect(await sandbox.stat("link")).toMatchObject({ isFile: true, isSymbolicLink: true, size: 3 });
    expect(await sandbox.realPath?.("link")).toBe(join(sandbox.cwd, "script"));
  });

  it("does not take in a file that would not fit into the object", async () => {
    const sandbox = await open("large");
    await sandbox.exec("truncate -s 100M big");
    await expect(sandbox.readFile("big")).rejects.toThrow(`more than the ${MAX_LOCAL_FILE_BYTES} that can be read`);
  });

  it("ends a command nobody can start with code 1 (D24)", async () => {
    const sandbox = await open("refused");
    expect(await sandbox.exec("a\0b")).toMatchObject({ exitCode: 1, stderr: expect.stringContaining("null bytes") });
    expect(await sandbox.exec("")).toMatchObject({ exitCode: 1, stderr: expect.stringContaining("cannot be empty") });
    const env = { LONG: "x".repeat(200_000) };
    expect(await sandbox.exec("true", { env })).toEqual({ stdout: "", stderr: "spawn E2BIG", exitCode: 1 });
  });

  it("kills what an aborted command started", async () => {
    const sandbox = await open("abort");
    const aborting = new AbortController();
    const running = sandbox.exec("echo $$ > pid; sleep 600", { signal: aborting.signal, key: "k" });
    await vi.waitUntil(async () => (await sandbox.exists("pid")) && (await sandbox.readFile("pid")) !== "");
    aborting.abort();
    await expect(running).rejects.toMatchObject({ name: "AbortError" });
    const pid = Number(await sandbox.readFile("pid"));
    await vi.waitFor(() => expect(() => process.kill(pid, 0)).toThrow("ESRCH"), { timeout: 10_000 });
  });

  it("finds a command again when its process was started anew meanwhile", async () => {
    const first = await listen();
    const at = (first.address() as AddressInfo).port;
    const sandbox: Sandbox = await open("again", {}, { url: `http://127.0.0.1:${at}`, token: TOKEN });
    const running = sandbox.exec("echo x >> ran; sleep 1; echo end", { key: "k" });
    await vi.waitUntil(
      () =>
        fs.access(join(sandbox.cwd, "ran")).then(
          () => true,
          () => false,
        ),
      { timeout: 10_000 },
    );
    first.closeAllConnections();
    first.close();
    await once(first, "close");
    const second = await listen(at);
    expect(await running).toEqual({ stdout: "end\n", stderr: "", exitCode: 0 });
    expect(await sandbox.readFile("ran")).toBe("x\n");
    second.closeAllConnections();
    second.close();
  });

  it("tells apart equal keys of two conversations, and of one made anew", async () => {
    const [a, b] = await Promise.all([open("keys-a"), open("keys-b")]);
    const outputs = await Promise.all([a.exec("echo a", { key: "k" }), b.exec("echo b", { key: "k" })]);
    expect(outputs.map(({ stdout }) => stdout)).toEqual(["a\n", "b\n"]);
    const host = { files: undefined as never, local: { url: `http://127.0.0.1:${port}`, token: TOKEN } };
    const workspace = { objectName: "coder/keys-a", uid: "inst_2" };
    const anew = await local().createSandbox({ id: "keys-a", host: { ...host, workspace } });
    expect((await anew.exec("echo anew", { key: "k" })).stdout).toBe("anew\n");
  });

  it("says how to start the process where it is not set up or does not answer", async () => {
    const none = local().createSandbox({ id: "x", host: { files: undefined as never } });
    await expect(none).rejects.toThrow("run `npm run start:local`");
    await expect(open("x", {}, { url: "http://127.0.0.1:9", token: TOKEN })).rejects.toThrow(
      "Run `npm run start:local`.",
    );
    const stranger = open("x", {}, { url: `http://127.0.0.1:${port}`, token: "other" });
    await expect(stranger).rejects.toThrow("refuses the call: The token is missing or wrong.");
  });
});

describe.skipIf(process.platform !== "linux")("the local process", () => {
  function call(headers: Record<string, string>, verb = "/open", method = "POST"): Promise<number> {
    return new Promise((resolve, reject) => {
      const sent = request({ port, host: "127.0.0.1", path: verb, method, headers }, (response) => {
        response.resume();
        resolve(response.statusCode ?? 0);
      });
      sent.once("error", reject);
      sent.end('{"id":"http"}\n');
    });
  }
  const token = { authorization: `Bearer ${TOKEN}` };

  it("listens on the loopback address alone", () => {
    expect(server.address()).toMatchObject({ address: "127.0.0.1" });
  });

  it.each([
    ["has no token", {}, 401],
    ["has a wrong token", { authorization: "Bearer secre" }, 401],
    ["was sent to another name", { ...token, host: "evil.example" }, 403],
    ["comes from a web page", { ...token, origin: "http://127.0.0.1" }, 403],
    ["is in order", token, 200],
  ])("answers a call that %s with its status", async (_what, headers: Record<string, string>, status) => {
    expect(await call(headers)).toBe(status);
  });

  it("knows its verbs only", async () => {
    expect(await call(token, "/eval")).toBe(404);
    expect(await call(token, "/open", "GET")).toBe(404);
  });
});
