/** Which writes belong to which call, and which of them stay. Source: contract RUNTIME 4. */
import { describe, expect, it } from "vitest";
import type { Seam } from "../../durable-objects/conversation/turn/ports.ts";
import { WriteSeams } from "../../durable-objects/conversation/write-seams.ts";

/** Seams over a store that is written as the engine writes it. */
function openSeams(stored: Record<string, unknown> = {}) {
  const store = new Map(Object.entries(stored));
  const seams = new WriteSeams((name) => (store.has(name) ? { value: store.get(name) } : undefined));
  const set = (seam: Seam, value: unknown, name = "n") => seams.run(seam, () => seams.write(name, () => value));
  const addOne = (seam: Seam) =>
    seams.run(seam, () => seams.write("n", (previous) => ((previous?.value as number | undefined) ?? 0) + 1));
  const commit = (seam: Seam) => {
    const writes = seams.take(seam);
    for (const { name, value } of writes) store.set(name, value);
    return writes;
  };
  return { seams, store, set, addOne, commit };
}

describe("the writes of calls that run side by side", () => {
  it("are not there before their call ends", () => {
    const { seams, store, set } = openSeams();
    set(seams.open(), 1);
    expect(store.has("n")).toBe(false);
  });

  it("are seen by each other's updaters, in write order", () => {
    const { seams, store, addOne, commit } = openSeams({ n: 10 });
    const [a, b] = [seams.open(), seams.open()];
    addOne(a);
    addOne(b);
    addOne(a);
    commit(a);
    commit(b);
    expect(store.get("n")).toBe(13);
  });

  it.each(["first", "second"])("leave the later one of a name, when the %s call ends before the other", (one) => {
    const { seams, store, set, commit } = openSeams();
    const [first, second] = [seams.open(), seams.open()];
    set(first, "early");
    set(second, "late");
    for (const seam of one === "first" ? [first, second] : [second, first]) commit(seam);
    expect(store.get("n")).toBe("late");
  });

  it("vanish with a call that is discarded", () => {
    const { seams, store, set, addOne, commit } = openSeams({ n: 1 });
    const [a, b] = [seams.open(), seams.open()];
    set(a, 50);
    seams.discard(a);
    addOne(b);
    expect(commit(a)).toEqual([]);
    commit(b);
    expect(store.get("n")).toBe(2);
  });

  it("are none when nothing changes, whatever the order of keys", () => {
    const { seams, set, commit } = openSeams({ n: { a: 1, b: [2] } });
    const seam = seams.open();
    set(seam, { b: [2], a: 1 });
    expect(commit(seam)).toEqual([]);
  });

  it("stand for themselves when they equal what another call has only buffered", () => {
    const { seams, store, set, commit } = openSeams({ n: 1 });
    const [a, b] = [seams.open(), seams.open()];
    set(a, 2);
    set(b, 2);
    seams.discard(a);
    commit(b);
    expect(store.get("n")).toBe(2);
  });

  it("cannot be changed through what an updater was given", () => {
    const { seams, store, set, commit } = openSeams();
    const seam = seams.open();
    set(seam, ["a"]);
    const spoil = (previous?: { value: unknown }) => {
      if (Array.isArray(previous?.value)) previous.value.push("b");
      throw new Error("changed its mind");
    };
    expect(() => seams.run(seam, () => seams.write("n", spoil))).toThrow("changed its mind");
    commit(seam);
    expect(store.get("n")).toEqual(["a"]);
  });
});

describe("a seam", () => {
  it("holds what is written after an await, and in what it started", async () => {
    const { seams, store, commit } = openSeams();
    const seam = seams.open();
    await seams.run(seam, async () => {
      await Promise.resolve();
      await Promise.all([1, 2].map(async (n) => seams.write(`n${n}`, () => n)));
    });
    commit(seam);
    expect([...store]).toEqual([
      ["n1", 1],
      ["n2", 2],
    ]);
  });

  it("takes no write after it was closed, wherever that was started", async () => {
    const { seams, store, commit } = openSeams();
    const seam = seams.open();
    let release = () => {};
    const late = seams.run(seam, async () => {
      await new Promise<void>((resolve) => {
        release = resolve;
      });
      expect(seams.isInside()).toBe(false);
      seams.write("n", () => 1);
    });
    seams.close(seam);
    release();
    await expect(late).rejects.toThrow(/outside of any seam/);
    commit(seam);
    expect(store.size).toBe(0);
  });

  it("is not entered from outside, nor with another conversation's writes", () => {
    const [one, other] = [openSeams(), openSeams()];
    expect(one.seams.isInside()).toBe(false);
    one.seams.run(one.seams.open(), () => {
      expect(one.seams.isInside()).toBe(true);
      expect(other.seams.isInside()).toBe(false);
      expect(() => other.seams.write("n", () => 1)).toThrow(/outside of any seam/);
    });
  });

  it("of a call inside a call keeps its own writes", () => {
    const { seams, store, set, commit } = openSeams();
    const [outer, inner] = [seams.open(), seams.open()];
    seams.run(outer, () => {
      set(inner, "inner", "i");
      seams.write("o", () => "outer");
    });
    commit(inner);
    expect([...store]).toEqual([["i", "inner"]]);
  });
});
