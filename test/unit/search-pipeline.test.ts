import { describe, expect, it } from "vitest";
import { compareBytes, parseCountedLines, plainPath, showPath } from "../../durable-objects/tools/search-pipeline.ts";

describe("a path as shown", () => {
  it.each(["a\nb", " x", "x ", "d/ x", "d/x ", "\tx"])("is quoted when its name is %j", (path) => {
    expect(showPath(path)).toBe(JSON.stringify(path));
  });

  it.each(["a b", "d /x", "it's", '"q"', "a\tb\u0001", "日本"])("stays as it is when its name is %j", (path) => {
    expect(showPath(path)).toBe(path);
  });
});

describe("a search start", () => {
  it.each(["-delete", "(", ")x", "!", ",a"])("%s is spelled so that no program misreads it", (path) => {
    expect(plainPath(path)).toBe(`./${path}`);
  });

  it.each([".", "a-b", "/-x", "./-x"])("%s is given as written", (path) => {
    expect(plainPath(path)).toBe(path);
  });
});

describe("a counted answer", () => {
  it("gives its lines and the number behind them", () => {
    expect(parseCountedLines("a \nb\n7\n")).toEqual({ lines: ["a ", "b"], total: 7 });
  });

  it.each(["a\nb\n", "7\n", "a\nb\nc\n2\n", "a\n0\n", ""])(
    "is none when the last line of %j cannot be the number",
    (text) => {
      expect(parseCountedLines(text).total).toBeUndefined();
    },
  );
});

describe("the order of paths", () => {
  it("is that of their UTF-8 bytes", () => {
    const paths = ["\u{1f600}", "\ufffd", "\ue000", "b", "a/z", "a.txt", "a", "é", "\u{10000}"];
    const byBytes = [...paths].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
    expect([...paths].sort(compareBytes)).toEqual(byBytes);
  });
});
