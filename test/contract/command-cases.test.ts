/**
 * Reported faults of commands.
 *
 * Elsewhere: what a blank result looks like on the wire (bash-07) in test/unit/blank-results.test.ts, secrets in a
 * command's environment (bash-13) in test/e2e/local.test.ts, and a container that dies or sleeps (sandbox-01, 03) in
 * test/lab.
 */
import { expect } from "vitest";
import { BASH_TIMEOUT_GRACE_MS } from "../../durable-objects/protocol/limits.ts";
import { type Case, EMULATED, NO_JOBS, playCases } from "./reported-case.ts";

const COMMANDS: Case[] = [
  {
    name: "a background child does not hold the answer, silent or printing (bash-01, bash-03)",
    not: NO_JOBS,
    async play({ bash }) {
      const silent = await bash("sleep 20 & echo done", 10);
      expect(silent.text.trim()).toBe("done");
      expect(silent.ms).toBeLessThan(3000);
      // It prints on for longer than the answer may take.
      const printing = await bash("(for i in $(seq 80); do echo tick; sleep 0.1; done) & sleep 1; echo fg-done", 10);
      expect(printing.text).toContain("fg-done");
      expect(printing.ms).toBeLessThan(4000);
    },
  },
  {
    name: "a command that ignores TERM ends with the timeout, and the next one works (bash-05, sandbox-05)",
    async play({ bash, call }) {
      const deaf = await bash("echo $$ > pid; trap '' TERM; while :; do sleep 1; done", 2);
      expect(deaf.text).toContain("124");
      // Ended by the sandbox: the tool itself gives up on a command only after the grace, and leaves it running.
      expect(deaf.ms).toBeLessThan(2000 + BASH_TIMEOUT_GRACE_MS);
      expect((await bash("kill -0 $(cat pid) 2> /dev/null && echo alive; echo gone")).text.trim()).toBe("gone");
      expect((await bash("sleep 600", 1)).text).toContain("124");
      const next = await bash("echo ok; echo x > here", 10);
      expect(next.text.trim()).toBe("ok");
      expect(next.ms).toBeLessThan(2000);
      expect((await call("read", { path: "here" })).text).toMatch(/^x/);
      expect((await call("grep", { pattern: "x", path: "here" })).text).toContain("here:1");
    },
  },
  {
    name: "a long and an endless output keep within the cap and are told (bash-09)",
    not: EMULATED("the size of an output is limited by itself"),
    async play({ bash }) {
      const long = await bash("head -c 100000000 /dev/zero | tr '\\0' x", 60);
      expect(long.text).toMatch(/^\[Showing the last 51200 of 100000000 characters\.\]\n\nx/);
      expect(long.text.length).toBeLessThan(52_000);
      const endless = await bash("yes", 2);
      expect(endless.text).toMatch(/^\[Showing the last 2000 of \d{6,} lines\.\]\n\ny/);
      expect(endless.text).toContain("124");
      expect(endless.text.length).toBeLessThan(52_000);
      expect((await bash("echo ok")).text.trim()).toBe("ok");
    },
  },
  {
    name: "the head of a long output is cut between characters (bash-11)",
    async play({ put, bash }) {
      for (const [character, end] of [
        ["😀", "b"],
        ["€", ""],
      ] as const) {
        await put("long", `${character.repeat(60_000)}${end}`);
        const { text } = await bash("cat long");
        expect(text.isWellFormed()).toBe(true);
        expect(text).not.toContain("\ufffd");
        expect(text.endsWith(character + end)).toBe(true);
        expect(text.length).toBeLessThan(52_000);
      }
    },
  },
  {
    name: "nothing of one command's shell is left for the next (bash-15)",
    async play({ bash }) {
      expect((await bash("mkdir sub; cd sub; export A=1; exit 3")).text).toContain("Command exited with code 3");
      expect((await bash("pwd; echo A=$A")).text.trim()).toMatch(/\/workspace\nA=$/);
    },
  },
  {
    name: "a shell that kills itself tells 137 (bash-15)",
    not: NO_JOBS,
    async play({ bash }) {
      expect((await bash("kill -9 $$")).text).toContain("137");
      expect((await bash("echo up")).text.trim()).toBe("up");
    },
  },
  {
    name: "here-documents, quotes and comments do not hang (sandbox-07)",
    async play({ bash }) {
      const here = await bash("cat << 'EOF' > t.txt\n$HOME `x` \"q\" 'q' \\n\nEOF\nwc -l < t.txt; cat t.txt");
      expect(here.text.trim()).toMatch(/^1\n\$HOME `x` "q" 'q' \\n$/);
      expect((await bash("cat <<EOF\nopen end")).text).toContain("open end");
      expect((await bash("echo 'unclosed")).text).toMatch(/exited with code [1-9]/);
      expect((await bash("echo ok # tail")).text.trim()).toBe("ok");
    },
  },
  {
    name: "text of a file and of the command come together unharmed (sandbox-09, grep-07)",
    async play({ call, bash, bytes }) {
      await call("write", { path: "w.txt", content: "世界\n" });
      const { text } = await bash("echo \"你好: $(cat w.txt)\" | sed 's/界/X/' > o.txt; cat o.txt; wc -c < o.txt");
      expect(text.trim()).toBe("你好: 世X\n13");
      expect(Buffer.from((await bytes("o.txt")) ?? "", "latin1").toString()).toBe("你好: 世X\n");
      await call("write", { path: "d.html", content: '<p class="sec">⚽ plan</p>\n世界\n' });
      expect((await call("grep", { pattern: "sec" })).text).toContain('d.html:1:<p class="sec">⚽ plan</p>');
      expect((await call("grep", { pattern: "世界", path: "d.html" })).text).toContain("d.html:2:世界");
    },
  },
];

playCases("commands", COMMANDS);
