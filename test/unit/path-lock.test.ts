import { describe, expect, it } from "vitest";
import { createCwdSandbox } from "../../containers/cwd-sandbox.ts";
import type { Sandbox } from "../../containers/sandbox.ts";
import { createPathLocks } from "../../durable-objects/tools/path-lock.ts";
import { scriptedSandbox } from "../contract/drivers/scripted.ts";

const nextTask = () => new Promise((resolve) => setTimeout(resolve, 0));

/** A sandbox whose links are given as a table; a path outside `there` does not exist. */
function linked(links: Record<string, string>, delays: Record<string, number> = {}): Sandbox {
  const { sandbox } = scriptedSandbox({});
  return {
    ...sandbox,
    async realPath(path) {
      await new Promise((resolve) => setTimeout(resolve, delays[path] ?? 0));
      const real = links[path];
      if (real === undefined) throw new Error("ENOENT");
      return real;
    },
  };
}

describe("path locks", () => {
  it("let writers of one file in one by one, in the order in which they came", async () => {
    const locks = createPathLocks();
    const { sandbox } = scriptedSandbox({});
    const log: string[] = [];
    const work = (name: string) => async () => {
      log.push(`${name} in`);
      await nextTask();
      log.push(`${name} out`);
    };
    const spellings = ["a.txt", "./a.txt", "/workspace/x/../a.txt", "a.txt"];
    await Promise.all(spellings.map((path, index) => locks.hold(sandbox, path, work(String(index)))));
    expect(log).toEqual(["0 in", "0 out", "1 in", "1 out", "2 in", "2 out", "3 in", "3 out"]);
  });

  it("let writers of different files run side by side", async () => {
    const locks = createPathLocks();
    const { sandbox } = scriptedSandbox({});
    const opened = Promise.withResolvers<void>();
    const first = locks.hold(sandbox, "a", () => opened.promise);
    await locks.hold(sandbox, "b", async () => opened.resolve());
    await first;
  });

  it("go on after a holder that failed", async () => {
    const locks = createPathLocks();
    const { sandbox } = scriptedSandbox({});
    const failing = locks.hold(sandbox, "a", async () => {
      throw new Error("first");
    });
    const second = locks.hold(sandbox, "a", async () => "second");
    await expect(failing).rejects.toThrow("first");
    expect(await second).toBe("second");
  });

  it("keep the order of arrival although the first real path takes longer to find", async () => {
    const locks = createPathLocks();
    const links = { "/workspace/link": "/real", "/workspace/file": "/real" };
    const env = linked(links, { "/workspace/link": 20 });
    const log: string[] = [];
    await Promise.all(["link", "file"].map((path) => locks.hold(env, path, async () => void log.push(path))));
    expect(log).toEqual(["link", "file"]);
  });

  it("take a link and its target for one file, and a new file below a linked folder too", async () => {
    const locks = createPathLocks();
    const env = linked({ "/workspace/real": "/workspace/real", "/workspace/link": "/workspace/real" });
    const log: string[] = [];
    const work = (name: string) => async () => {
      log.push(`${name} in`);
      await nextTask();
      await nextTask();
      log.push(`${name} out`);
    };
    await Promise.all([locks.hold(env, "link/new", work("a")), locks.hold(env, "real/new", work("b"))]);
    expect(log).toEqual(["a in", "a out", "b in", "b out"]);
  });

  it("are shared by a sandbox and its scoped views", async () => {
    const locks = createPathLocks();
    const { sandbox } = scriptedSandbox({});
    const scoped = createCwdSandbox(sandbox, "/workspace/sub");
    const log: string[] = [];
    const held = Promise.withResolvers<void>();
    const first = locks.hold(sandbox, "sub/a", async () => {
      await held.promise;
      log.push("parent");
    });
    const second = locks.hold(scoped, "a", async () => void log.push("child"));
    await nextTask();
    held.resolve();
    await Promise.all([first, second]);
    expect(log).toEqual(["parent", "child"]);
  });

  it("are not shared by two sandboxes, nor by two registries", async () => {
    const opened = Promise.withResolvers<void>();
    const [one, two] = [scriptedSandbox({}).sandbox, scriptedSandbox({}).sandbox];
    const locks = createPathLocks();
    const first = locks.hold(one, "a", () => opened.promise);
    await locks.hold(two, "a", async () => {});
    await createPathLocks().hold(one, "a", async () => opened.resolve());
    await first;
  });

  it("take the path as written where the sandbox cannot resolve it", async () => {
    const { sandbox } = scriptedSandbox({});
    const broken: Sandbox = {
      ...sandbox,
      resolvePath: () => {
        throw new Error("no");
      },
    };
    expect(await createPathLocks().hold(broken, "a", async () => "ran")).toBe("ran");
  });
});
