/**
 * Our value for the vectors whose recorded one is the reference's and not ours.
 *
 * The first group is tagged in the vectors, the second collides with a row of contract TOOLS 15 untagged: the row wins. A
 * tagged vector that is not listed keeps its recorded value, since its row does not fire there. Several values: any.
 */
import type { Expectation } from "./vector.ts";

const LIMIT_ERROR: Expectation = { error: "limit must be 1 or more." };
const TIMEOUT_ERROR: Expectation = { error: "timeout must be a positive number of seconds." };

const lines = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, i) => `line ${from + i}`).join("\n");
const overlong = (line: number, text: string): Expectation => ({
  text: `${text}\n\n[Line ${line} exceeds the 51200-byte read limit; showing the first 51200 bytes of it. The remainder of this line is not accessible via offset/limit.]`,
});
const lastUnits = (total: number, tail: string): Expectation => ({
  text: `[Showing the last 51200 of ${total} characters.]\n\n${tail}`,
});
const SPAWN_FAILURE: Expectation = { text: /^\S[\s\S]*\n\nCommand exited with code 1$/ };
const seq = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => `${from + i}`).join("\n");
const numbered = Array.from({ length: 1000 }, (_, i) => String(i + 1).padStart(6, "0") + "y".repeat(101)).join("\n");

const tagged: Record<string, Expectation | Expectation[]> = {
  // D12
  "read-limit-neg1": LIMIT_ERROR,
  "read-limit-neg3": LIMIT_ERROR,
  "read-limit-neg1-offset-3": LIMIT_ERROR,
  "read-limit-neg4-offset-2": LIMIT_ERROR,
  "read-limit-0.5": LIMIT_ERROR,
  "read-offset-1.5-long": {
    text: `${lines(1, 2000)}\n\n[Showing lines 1-2000 of 2500. Use offset=2001 to continue.]`,
    details: { path: "a.txt", lines: 2500 },
  },
  "read-overlong-offset-fraction": overlong(1, "x".repeat(51_200)),
  // D1
  "read-emoji-split": overlong(1, `a${"😀".repeat(25_599)}`),
  // Half a character is no text of a file: nothing matches, nothing is cut apart.
  "edit-surrogate-half": {
    error:
      "Could not find the exact text in a.txt. Make sure your oldText matches exactly, including whitespace and indentation.",
  },
  // D8
  "bash-lines-stdout-stderr-2001": {
    text: `[Showing the last 2000 of 3001 lines.]\n\n${seq(1002, 1500)}\n\n${seq(1, 1500)}`,
  },
  "bash-units-51201": lastUnits(51_201, "x".repeat(51_200)),
  "bash-units-60000": lastUnits(60_000, "x".repeat(51_200)),
  "bash-units-multi-line": lastUnits(numbered.length, numbered.slice(-51_200)),
  "bash-units-cjk-over": lastUnits(51_201, "漢".repeat(51_200)),
  "bash-units-emoji-split": lastUnits(51_201, `${"😀".repeat(25_599)}a`),
  // D10
  "bash-timeout-zero": TIMEOUT_ERROR,
  "bash-timeout-negative": TIMEOUT_ERROR,
  "bash-timeout-sub-ms": [
    { text: "x", details: { command: "echo x", exitCode: 0 } },
    // One millisecond is a real deadline: most shells take longer to start, some have printed by then.
    { text: /^(?:x\n\n)?\[flue\] Command timed out after 0\.0005 seconds\.\n\nCommand exited with code 124$/ },
  ],
  "bash-timeout-huge": { text: "x", details: { command: "echo x", exitCode: 0 } },
  "bash-timeout-max": { text: "x", details: { command: "echo x", exitCode: 0 } },
  // D15
  "grep-name-newline-rg": { text: '"./a\\nb.txt":1:foo', details: { matchCount: 1 } },
  "grep-name-newline-posix": { text: '"./a\\nb.txt":1:foo', details: { matchCount: 1 } },
  // D23
  "glob-missing-dir": {
    text: "No files found matching pattern.\n\n[nope does not exist.]",
    details: { matchCount: 0 },
  },
  "justbash-glob-missing": { text: "No files found matching pattern.\n\n[nope does not exist.]" },
  // D3
  "glob-path-bang": { text: "./!/x.txt", details: { matchCount: 1 } },
};

const untagged: Record<string, Expectation | Expectation[]> = {
  // D9: the output so far is kept.
  "bash-timeout-hit": {
    text: "partial\n\n[flue] Command timed out after 1 seconds.\n\nCommand exited with code 124",
    details: { command: "echo partial; sleep 5", exitCode: 124 },
  },
  // D10: 1000.9999999999999 ms are 1001 ms.
  "bash-timeout-float-artifact": { text: "x", details: { command: "echo x", exitCode: 0 } },
  // D24: a spawn failure is an ordinary result; a driver that just runs the command may do that.
  "bash-empty-command": [{ text: "(no output)", details: { command: "", exitCode: 0 } }, SPAWN_FAILURE],
  "bash-nul-in-command": [{ text: "ab" }, { text: "a" }, { text: "a\0b" }, SPAWN_FAILURE],
  "bash-too-long-command": [lastUnits(200_000, "a".repeat(51_200)), SPAWN_FAILURE],
  // D27: the first line keeps its indentation, of whatever white space.
  "bash-nbsp-trim": { text: "\u00a0x" },
  "bash-bom-trim": { text: "\ufeffx" },
  "format-bash-trim": { text: " x" },
  // D25: an abort without a reason of its own has the spec's sentence.
  "abort-during-bash": {
    error: "The operation was aborted. The sandbox command could not be confirmed cancelled and may still be running.",
    errorName: "AbortError",
  },
  // D26
  "glob-symlinks-excluded": { text: "./a.ts\n./l.ts", details: { matchCount: 2 } },
  // D15: quoted where the answer tells names apart, else read line by line.
  "glob-pattern-newline": { text: '"./a\\nb"', details: { matchCount: 1 } },
  "glob-name-trailing-space": [{ text: '"./x "', details: { matchCount: 1 } }, { text: "./x" }],
  // TOOLS 4: a folder is not overwritten; that just-bash says so is a fault of its own.
  "justbash-write-dir": { error: "EISDIR: illegal operation on a directory, open '/workspace/d'" },
};

export const deviations: Readonly<Record<string, Expectation | readonly Expectation[]>> = { ...tagged, ...untagged };
