import { describe, expect, it } from "vitest";
import { type OpenDriver, openDriver, orphansOf } from "./open-driver.ts";

/** Runs `command`, and `verbs` while it sleeps at its end; the tree afterwards, one `path content` a line. */
async function treeAfter(before: string, command: string, verbs: (open: OpenDriver) => Promise<void>): Promise<string> {
  const open = openDriver();
  await open.print(before);
  const running = open.run(`${command}; sleep 0.03`);
  await new Promise((resolve) => setTimeout(resolve, 15));
  await verbs(open);
  expect((await running).exitCode).toBe(0);
  expect(orphansOf(open.db)).toEqual([]);
  return open.print('for p in $(find . -mindepth 1 | sort); do [ -d $p ] && echo "$p/" || echo "$p $(cat $p)"; done');
}

describe("a file verb during a command", () => {
  it("keeps its other files, although the command worked in the same directory", async () => {
    const tree = await treeAfter("echo old > a", "echo cmd > mine; rm a", async ({ driver }) => {
      await driver.writeFile("/workspace/b", "verb");
      await driver.mkdir("/workspace/d");
      await driver.writeFile("/workspace/d/c", "verb");
    });
    expect(tree).toBe("./b verb\n./d/\n./d/c verb\n./mine cmd\n");
  });

  it("is seen by the command at once, and sees the command's files only after its commit", async () => {
    const open = openDriver();
    const running = open.run("echo cmd > mine; sleep 0.03; cat theirs");
    await new Promise((resolve) => setTimeout(resolve, 10));
    expect(await open.driver.exists("/workspace/mine")).toBe(false);
    await open.driver.writeFile("/workspace/theirs", "verb");
    expect((await running).stdout).toBe("verb");
    expect(await open.driver.readFile("/workspace/mine")).toBe("cmd\n");
  });

  it("loses the content of a file both wrote to the command, whose commit is later, but keeps a mode it set", async () => {
    const open = openDriver();
    await open.print("echo 0 > f; echo 0 > g; chmod 600 g");
    const running = open.run("echo cmd > f; echo cmd > new; chmod 755 g; sleep 0.03");
    await new Promise((resolve) => setTimeout(resolve, 10));
    for (const name of ["f", "new", "g"]) await open.driver.writeFile(`/workspace/${name}`, "verb\n");
    await running;
    expect(await open.print("cat f new g; stat -c %a g")).toBe("cmd\ncmd\nverb\n755\n");
    expect(orphansOf(open.db)).toEqual([]);
  });

  it("takes the command's files along when it removes the directory they are in", async () => {
    const tree = await treeAfter(
      "mkdir d; echo 1 > d/1; echo k > keep",
      "echo 2 > d/2; echo x >> d/1",
      async (open) => {
        await open.driver.rm("/workspace/d", { recursive: true });
      },
    );
    expect(tree).toBe("./keep k\n");
  });

  it("keeps a directory the command removed when it has put a file into it meanwhile", async () => {
    const tree = await treeAfter("mkdir -p d/e; echo 1 > d/1; echo 2 > d/e/2", "rm -r d", async ({ driver }) => {
      await driver.writeFile("/workspace/d/e/new", "verb");
    });
    expect(tree).toBe("./d/\n./d/e/\n./d/e/new verb\n");
  });

  it("shares a directory that both made", async () => {
    const tree = await treeAfter("true", "mkdir -p out/sub; echo c > out/c; echo s > out/sub/s", async ({ driver }) => {
      await driver.mkdir("/workspace/out/sub", { recursive: true });
      await driver.writeFile("/workspace/out/v", "verb");
      await driver.writeFile("/workspace/out/sub/v", "verb");
    });
    expect(tree).toBe("./out/\n./out/c c\n./out/sub/\n./out/sub/s s\n./out/sub/v verb\n./out/v verb\n");
  });

  it("gives the name to the command's directory when it made a file of that name, and the reverse keeps both", async () => {
    const directoryWins = await treeAfter("true", "mkdir out; echo c > out/c", async ({ driver }) => {
      await driver.writeFile("/workspace/out", "verb");
    });
    expect(directoryWins).toBe("./out/\n./out/c c\n");
    const bothStay = await treeAfter("true", "echo c > out", async ({ driver }) => {
      await driver.mkdir("/workspace/out");
      await driver.writeFile("/workspace/out/v", "verb");
    });
    expect(bothStay).toBe("./out/\n./out/out c\n./out/v verb\n");
  });

  it("does not bring back a file it removed when the command has moved or linked it", async () => {
    const tree = await treeAfter("echo a > a; echo b > b", "mv a moved; ln b twin", async ({ driver }) => {
      await driver.rm("/workspace/a");
      await driver.rm("/workspace/b");
    });
    expect(tree).toBe("");
  });

  it("lets a moved directory keep what it held and takes it in where the new name is taken", async () => {
    const moved = await treeAfter("mkdir -p a/x; echo 1 > a/x/1", "mv a b; echo 2 > b/x/2", async ({ driver }) => {
      await driver.writeFile("/workspace/a/x/v", "verb");
    });
    expect(moved).toBe("./b/\n./b/x/\n./b/x/1 1\n./b/x/2 2\n./b/x/v verb\n");
    const taken = await treeAfter("mkdir -p a/x; echo 1 > a/x/1", "mv a b", async ({ driver }) => {
      await driver.mkdir("/workspace/b");
      await driver.writeFile("/workspace/b/v", "verb");
    });
    expect(taken).toBe("./b/\n./b/v verb\n./b/x/\n./b/x/1 1\n");
  });
});
