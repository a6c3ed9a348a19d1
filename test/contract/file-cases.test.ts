/** Reported faults of read, write and edit. */
import { expect } from "vitest";
import { type Case, EMULATED, playCases } from "./reported-case.ts";

const FILES: Case[] = [
  {
    name: "one line above the cap is shown to the cap, without advice to read it again (read-03)",
    async play({ put, call }) {
      await put("one.json", `${"a".repeat(60_000)}\nsecond\n`);
      const { text } = await call("read", { path: "one.json" });
      expect(text.startsWith("a".repeat(51_200))).toBe(true);
      expect(text.slice(51_200)).not.toMatch(/^a|offset=1\b/);
      expect((await call("read", { path: "one.json", offset: 2 })).text).toMatch(/^second/);
    },
  },
  {
    name: "the cap never halves a character (read-05)",
    async play({ put, call }) {
      const whole = "a".repeat(51_199);
      await put("e.txt", `${whole}😀😀\n`);
      // Neither a half nor what stands for one.
      expect((await call("read", { path: "e.txt" })).text.startsWith(`${whole}\n`)).toBe(true);
    },
  },
  {
    name: "a pipe without a writer is an error that names it (read-07)",
    not: EMULATED("it has no pipes"),
    async play({ setUp, call }) {
      await setUp("mkfifo live.pipe");
      const answer = await call("read", { path: "live.pipe" });
      expect(answer).toMatchObject({
        isError: true,
        text: expect.stringMatching(/live\.pipe.*regular file|regular file.*live\.pipe/),
      });
      expect(answer.ms).toBeLessThan(10_000);
    },
  },
  {
    name: "line numbers are floored, and odd ones are plain errors (read-09)",
    async play({ put, call }) {
      await put("t.txt", Array.from({ length: 10 }, (_, i) => `${i + 1}\n`).join(""));
      expect((await call("read", { path: "t.txt", offset: 0, limit: 3 })).text).toMatch(/^1\n2\n3(?!\n4)/);
      expect((await call("read", { path: "t.txt", offset: 2.7, limit: 2.5 })).text).toMatch(/^2\n3(?!\n4)/);
      expect((await call("read", { path: "t.txt", offset: -4 })).text).toMatch(/^1\n/);
      expect((await call("read", { path: "t.txt", limit: 0 })).text).toContain("10");
      expect(await call("read", { path: "t.txt", limit: -1 })).toMatchObject({ isError: true });
    },
  },
  {
    name: "an edit writes dollar signs as they are (edit-01)",
    async play({ put, call, bytes }) {
      await put("d.js", 'log("done");\nx\nx\n');
      await call("edit", { path: "d.js", oldText: 'log("done");', newText: "a $& b $$ c $1 d $` e $' f" });
      const { text } = await call("edit", { path: "d.js", oldText: "x", newText: "$&$$", replaceAll: true });
      expect(await bytes("d.js")).toBe("a $& b $$ c $1 d $` e $' f\n$&$$\n$&$$\n");
      expect(text).toContain("2");
    },
  },
  {
    name: "an edit leaves alone what is not UTF-8, and says so, and keeps a NUL byte (edit-03, edit-13)",
    async play({ put, call, bytes }) {
      await put("l.txt", Buffer.from("const x = 1;\n// caf\xe9\n", "latin1"));
      const latin = await call("edit", { path: "l.txt", oldText: "const x = 1;", newText: "const x = 2;" });
      expect(latin).toMatchObject({ isError: true, text: expect.stringContaining("l.txt is not valid UTF-8") });
      expect(await bytes("l.txt")).toBe("const x = 1;\n// caf\xe9\n");
      await put("n.js", "k=`a\0b`;\nB=1\n");
      await call("edit", { path: "n.js", oldText: "B=1", newText: "B=2" });
      expect(await bytes("n.js")).toBe("k=`a\0b`;\nB=2\n");
    },
  },
  {
    name: "edits of one file in one turn are all kept, however the file is spelled (edit-05, edit-07)",
    async play({ put, setUp, call, bytes }) {
      await put("f", Array.from({ length: 60 }, (_, i) => `line ${i + 1}\n`).join(""));
      await setUp("ln -s f g");
      const spelled = ["f", "./f", "/workspace/f", "g", "f", "g"];
      const answers = await Promise.all(
        spelled.map((path, i) =>
          call("edit", { path, oldText: `line ${i * 11 + 2}\n`, newText: `LINE ${i * 11 + 2}\n` }),
        ),
      );
      expect(answers.filter(({ isError }) => isError)).toEqual([]);
      const lines = (await bytes("f"))?.split("\n") ?? [];
      expect(lines.filter((line) => line.startsWith("LINE"))).toHaveLength(6);
      expect(lines.filter((line) => line.startsWith("line"))).toHaveLength(54);
      expect((await setUp("readlink g")).trim()).toBe("f");
    },
  },
  {
    name: "backslashes are written as sent (edit-09)",
    async play({ put, call, bytes }) {
      await put("q.py", "A\n");
      await call("edit", { path: "q.py", oldText: "A", newText: "print('a\\nb')  # \\title \\0 \\'" });
      expect(await bytes("q.py")).toBe("print('a\\nb')  # \\title \\0 \\'\n");
      await call("write", { path: "r.py", content: 's = f"""\\\nx"""\n' });
      expect(await bytes("r.py")).toBe('s = f"""\\\nx"""\n');
    },
  },
  {
    name: "links are written through, soft and hard (edit-11)",
    not: { bash: "a hard link is a copy in memory" },
    async play({ setUp, call, bytes }) {
      await setUp("mkdir dot; printf 'v=1\\n' > dot/rc; ln -s dot/rc rc; ln dot/rc hard");
      for (const [tool, args, text] of [
        ["edit", { path: "rc", oldText: "v=1", newText: "v=2" }, "v=2\n"],
        ["write", { path: "rc", content: "v=3\n" }, "v=3\n"],
      ] as const) {
        expect(await call(tool, args)).toMatchObject({ isError: false });
        expect([await bytes("dot/rc"), await bytes("hard"), (await setUp("readlink rc")).trim()]).toEqual([
          text,
          text,
          "dot/rc",
        ]);
      }
    },
  },
  {
    name: "a long file is written with its folders, and bytes are exactly the text (write-01, write-03)",
    async play({ call, bash, bytes }) {
      await call("write", { path: "big/a/b.txt", content: `${"x".repeat(200_000)}\n` });
      expect((await bash("wc -c < big/a/b.txt")).text.trim()).toBe("200001");
      await call("edit", { path: "big/a/b.txt", oldText: "x\n", newText: "END\n" });
      expect((await bash("tail -c 4 big/a/b.txt")).text.trim()).toBe("END");
      for (const content of ["#!/bin/sh\necho 1\n", "@echo off\r\necho 1", ""]) {
        await call("write", { path: "x", content });
        expect(await bytes("x")).toBe(content);
      }
    },
  },
];

playCases("files", FILES);
