/** The programs behind `container()`'s file verbs, with this machine's bash in a folder of the test's own. */
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { containerFileVerbs } from "../../containers/drivers/container/file-verbs.ts";
import { container } from "../../containers/drivers/container.ts";

const verbs = containerFileVerbs(async ({ script, path, stdin, maxBytes }) => {
  const env = { PATH: process.env.PATH, LC_ALL: "C" };
  const run = spawnSync("bash", ["--norc", "-c", script, "bash", path], {
    env,
    input: stdin ?? "",
    maxBuffer: maxBytes,
  });
  return { stdout: run.stdout, stderr: run.stderr, exitCode: run.status ?? 137 };
});

describe("the container's file verbs", () => {
  let root: string;
  const at = (name: string) => join(root, name);
  beforeAll(() => {
    root = mkdtempSync(join(tmpdir(), "berth-files-"));
  });
  afterAll(() => rmSync(root, { recursive: true, force: true }));

  it("keep bytes, names and links as they are", async () => {
    const bytes = Uint8Array.from([0, 255, 10, 13, 0xef, 0xbb, 0xbf]);
    await verbs.writeFile(at("a\n'b"), bytes);
    expect(Uint8Array.from(await verbs.readFileBuffer(at("a\n'b")))).toEqual(bytes);
    symlinkSync("a\n'b", at("link"));
    const before = statSync(at("a\n'b")).ino;
    await verbs.writeFile(at("link"), "\ufeffhé");
    expect(statSync(at("a\n'b")).ino).toBe(before);
    expect(await verbs.readFile(at("link"))).toBe("\ufeffhé");
    expect((await verbs.readdir(root)).sort()).toEqual(["a\n'b", "link"]);
    expect(await verbs.stat(at("link"))).toMatchObject({ isFile: true, isSymbolicLink: true, size: 6 });
    expect(await verbs.realPath?.(at("link"))).toBe(at("a\n'b"));
    expect(await verbs.realPath?.(at("new/deep"))).toBe(at("new/deep"));
  });

  it("fail in Node's words", async () => {
    writeFileSync(at("file"), "");
    mkdirSync(at("full/inner"), { recursive: true });
    spawnSync("mkfifo", [at("pipe")]);
    const cases: [() => Promise<unknown>, string][] = [
      [() => verbs.readFile(at("nope")), `ENOENT: no such file or directory, open '${at("nope")}'`],
      [() => verbs.readFile(at("full")), `EISDIR: illegal operation on a directory, read '${at("full")}'`],
      [() => verbs.readFile(at("file/x")), `ENOTDIR: not a directory, open '${at("file/x")}'`],
      [() => verbs.readFile(at("pipe")), `${at("pipe")} is not a regular file (fifo).`],
      [() => verbs.writeFile(at("pipe"), ""), `${at("pipe")} is not a regular file (fifo).`],
      [() => verbs.writeFile(at("full"), ""), `EISDIR: illegal operation on a directory, open '${at("full")}'`],
      [() => verbs.writeFile(at("no/x"), ""), `ENOENT: no such file or directory, open '${at("no/x")}'`],
      [() => verbs.readdir(at("file")), `ENOTDIR: not a directory, scandir '${at("file")}'`],
      [() => verbs.readdir(at("nope")), `ENOENT: no such file or directory, scandir '${at("nope")}'`],
      [() => verbs.stat(at("nope")), `ENOENT: no such file or directory, stat '${at("nope")}'`],
      [() => verbs.mkdir(at("full")), `EEXIST: file already exists, mkdir '${at("full")}'`],
      [() => verbs.mkdir(at("no/x")), `ENOENT: no such file or directory, mkdir '${at("no/x")}'`],
      [() => verbs.rm(at("nope")), `ENOENT: no such file or directory, rm '${at("nope")}'`],
      [() => verbs.rm(at("full"), { force: true }), `EISDIR: illegal operation on a directory, rm '${at("full")}'`],
      [() => verbs.stat(at("a\0b")), "without null bytes"],
    ];
    for (const [failing, text] of cases) await expect(failing()).rejects.toThrow(text);
  });

  it("make and remove as asked", async () => {
    await verbs.mkdir(at("p/q/r"), { recursive: true });
    await verbs.mkdir(at("p/q/r"), { recursive: true });
    await verbs.writeFile(at("p/q/r/-f"), "x");
    expect(readFileSync(at("p/q/r/-f"), "utf8")).toBe("x");
    await verbs.rm(at("p"), { recursive: true });
    expect(await verbs.exists(at("p"))).toBe(false);
    await verbs.rm(at("p"), { force: true });
  });
});

describe("container()", () => {
  it("says what to do where the deployment has no containers", async () => {
    await expect(container().createSandbox({ id: "x" })).rejects.toThrow(
      "The sandbox container needs the binding CONTAINERS, which this deployment lacks: start with `SANDBOX=container npm " +
        "start`, deploy with `wrangler deploy --env container`, or set SANDBOX=virtual.",
    );
  });
});
