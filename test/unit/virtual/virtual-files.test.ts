import { describe, expect, it } from "vitest";
import { virtual } from "../../../containers/drivers/virtual.ts";
import { emptyDatabase, openDriver, orphansOf } from "./open-driver.ts";

const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);

describe("file verbs of the virtual sandbox", () => {
  it("show the workspace and /tmp before anything is written, and reading writes no row", async () => {
    const { db, driver } = openDriver();
    expect(await driver.readdir("/")).toEqual(["dev", "tmp", "workspace"]);
    expect(await driver.readdir("/workspace")).toEqual([]);
    expect((await driver.stat("/workspace")).isDirectory).toBe(true);
    expect(await driver.exists("/workspace/x")).toBe(false);
    await driver.search?.glob({ pattern: "*", path: ".", cwd: "/workspace" });
    expect(db.all(`SELECT * FROM file_inodes`)).toEqual([]);
  });

  it("give back what was written, text and bytes, after a restart over the same database", async () => {
    const { db, driver } = openDriver();
    const bytes = Uint8Array.from({ length: 700_000 }, (_, index) => (index * 7919) >> 3);
    await driver.writeFile("/workspace/a.txt", "\ufeffhé 你好 😀\n");
    await driver.writeFile("/workspace/b.bin", bytes);
    const reopened = openDriver(db).driver;
    expect(await reopened.readFile("/workspace/a.txt")).toBe("\ufeffhé 你好 😀\n");
    expect(Buffer.compare(await reopened.readFileBuffer("/workspace/b.bin"), bytes)).toBe(0);
    expect((await reopened.stat("/workspace/b.bin")).size).toBe(700_000);
  });

  it("keep no cell above 256 KiB and no old chunk when a file of 5 MB grows, shrinks and goes", async () => {
    const { db, driver } = openDriver();
    const bytes = Uint8Array.from({ length: 5 * 1024 * 1024 }, (_, index) => (index * 31) >> 2);
    await driver.writeFile("/workspace/big", bytes);
    expect(Buffer.compare(await driver.readFileBuffer("/workspace/big"), bytes)).toBe(0);
    expect(db.all(`SELECT max(length(bytes)) AS most, count(*) AS parts FROM file_chunks`)).toEqual([
      { most: 256 * 1024, parts: 20 },
    ]);
    await driver.writeFile("/workspace/big", bytes.subarray(0, 300_000));
    expect(Buffer.compare(await driver.readFileBuffer("/workspace/big"), bytes.subarray(0, 300_000))).toBe(0);
    await driver.writeFile("/workspace/big", "small");
    expect(db.all(`SELECT * FROM file_chunks`)).toEqual([]);
    expect(await driver.readFile("/workspace/big")).toBe("small");
    await driver.rm("/workspace/big");
    expect(orphansOf(db)).toEqual([]);
  });

  it("change one row for an overwrite of 2 KB and two for a new file", async () => {
    const { db, driver } = openDriver();
    await driver.writeFile("/workspace/first", "x".repeat(2048));
    const changed = (): number => db.all<{ n: number }>(`SELECT total_changes() AS n`)[0]?.n ?? 0;
    const start = changed();
    await driver.writeFile("/workspace/first", "y".repeat(2048));
    expect(changed() - start).toBe(1);
    await driver.writeFile("/workspace/second", "y".repeat(2048));
    expect(changed() - start).toBe(3);
  });

  it("say what is wrong in the words of Node", async () => {
    const { driver } = openDriver();
    await driver.writeFile("/workspace/file", "x");
    await driver.mkdir("/workspace/dir");
    await driver.writeFile("/workspace/dir/x", "x");
    const failing: [Promise<unknown>, string][] = [
      [driver.readFile("/workspace/nope"), "ENOENT: no such file or directory, open '/workspace/nope'"],
      [driver.readFile("/workspace"), "EISDIR: illegal operation on a directory, read '/workspace'"],
      [driver.readFile("/workspace/file/x"), "ENOTDIR: not a directory, open '/workspace/file/x'"],
      [driver.writeFile("/workspace/dir", "x"), "EISDIR: illegal operation on a directory, open '/workspace/dir'"],
      [driver.writeFile("/workspace/no/x", "x"), "ENOENT: no such file or directory, open '/workspace/no/x'"],
      [driver.mkdir("/workspace/dir"), "EEXIST: file already exists, mkdir '/workspace/dir'"],
      [driver.mkdir("/workspace/no/x"), "ENOENT: no such file or directory, mkdir '/workspace/no/x'"],
      [driver.readdir("/workspace/file"), "ENOTDIR: not a directory, scandir '/workspace/file'"],
      [driver.rm("/workspace/dir"), "ENOTEMPTY: directory not empty, rm '/workspace/dir'"],
      [driver.rm("/workspace/nope"), "ENOENT: no such file or directory, rm '/workspace/nope'"],
      [driver.rm("/", { recursive: true }), "EBUSY: resource busy or locked, rm '/'"],
      [driver.stat("/workspace/nope"), "ENOENT: no such file or directory, stat '/workspace/nope'"],
    ];
    for (const [promise, message] of failing) {
      await expect(promise).rejects.toThrow(message);
    }
    expect(await driver.readdir("/workspace/dir")).toEqual(["x"]);
  });

  it("write in place, so that mode, hard links and the inode behind a link stay", async () => {
    const { driver, print } = openDriver();
    await driver.writeFile("/workspace/run.sh", "echo one\n");
    await print("chmod 750 run.sh; ln run.sh twin; ln -s run.sh link");
    await driver.writeFile("/workspace/link", "echo two\n");
    expect(await driver.readFile("/workspace/twin")).toBe("echo two\n");
    expect(await print("stat -c %a run.sh; ./run.sh; readlink link")).toBe("750\ntwo\nrun.sh\n");
    expect(await driver.stat("/workspace/link")).toMatchObject({ isFile: true, isSymbolicLink: true, size: 9 });
    expect(await driver.realPath?.("/workspace/link")).toBe("/workspace/run.sh");
  });

  it("make the target when they write through a link that leads nowhere, and give up on a circle of links", async () => {
    const { driver, print } = openDriver();
    await print("mkdir d; ln -s d/target link; ln -s b a; ln -s a b");
    await driver.writeFile("/workspace/link", "x");
    expect(await driver.readFile("/workspace/d/target")).toBe("x");
    await expect(driver.readFile("/workspace/a")).rejects.toThrow("ELOOP: too many symbolic links encountered");
    expect(await driver.exists("/workspace/a")).toBe(false);
  });

  it("follow `..` from where a link leads, not from where it stands", async () => {
    const { driver, print } = openDriver();
    await print("mkdir -p deep/er; echo right > deep/x; echo wrong > x; ln -s deep/er link; ln -s link/../x probe");
    expect(await driver.readFile("/workspace/probe")).toBe("right\n");
  });

  it("work at the root and in /tmp, and treat /dev/null as one does", async () => {
    const { driver, print } = openDriver();
    await driver.writeFile("/top.txt", "top");
    await driver.mkdir("/opt/out", { recursive: true });
    await driver.writeFile("/opt/out/x.txt", "x");
    await driver.writeFile("/tmp/t", "t");
    expect(await print("cat /top.txt /opt/out/x.txt /tmp/t")).toBe("topxt");
    await driver.writeFile("/dev/null", "gone");
    expect(await driver.readFile("/dev/null")).toBe("");
    expect(await print("echo gone > /dev/null; cat /dev/null; cat < /dev/null; echo $?")).toBe("0\n");
    await expect(driver.writeFile("/dev/new", "x")).rejects.toThrow("EACCES");
  });

  it("take a tree away whole and leave no row behind", async () => {
    const { db, driver, print } = openDriver();
    await print("mkdir -p a/b/c; echo 1 > a/1; echo 2 > a/b/2; ln -s ../1 a/b/l; ln a/1 kept");
    await driver.rm("/workspace/a", { recursive: true });
    expect(await driver.readdir("/workspace")).toEqual(["kept"]);
    expect(text(await driver.readFileBuffer("/workspace/kept"))).toBe("1\n");
    expect(orphansOf(db)).toEqual([]);
    await driver.rm("/workspace/a", { recursive: true, force: true });
  });

  it("refuse a file above 32 MiB and leave the old one as it was", async () => {
    const { driver } = openDriver();
    await driver.writeFile("/workspace/x", "old");
    await expect(driver.writeFile("/workspace/x", new Uint8Array(32 * 1024 * 1024 + 1))).rejects.toThrow("ENOSPC");
    expect(await driver.readFile("/workspace/x")).toBe("old");
  });
});

describe("virtual()", () => {
  it("says what it needs when the conversation lends it no files", async () => {
    await expect(virtual().createSandbox({ id: "x" })).rejects.toThrow("host.files");
  });

  it("opens at /workspace over the files it is lent", async () => {
    const { files } = openDriver(emptyDatabase());
    const sandbox = await virtual({ env: { GREETING: "hi" } }).createSandbox({ id: "x", host: { files } });
    expect(virtual().kind).toBe("virtual");
    expect(await sandbox.exec('pwd; echo "$GREETING $HOME"')).toEqual({
      stdout: "/workspace\nhi /workspace\n",
      stderr: "",
      exitCode: 0,
    });
  });
});
