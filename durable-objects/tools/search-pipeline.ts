/**
 * Command lines for the search tools: a search program whose answer is sorted, counted and cut before it leaves the
 * sandbox, so that what crosses is bounded whatever it finds (D16, D18).
 *
 * The exit code of the whole is the search program's own. The answer is the first records of the sorted list, one a line,
 * and behind them a line with the number of all. POSIX sh, with `sort -z` and `xargs -0`; a shell whose programs lack such
 * options is given the reference's plain command instead, and answers unsorted and uncut.
 *
 * Source: contract TOOLS 8, 9, 15.
 */
import type { ExecResult, Sandbox } from "../../containers/sandbox.ts";
import { shellQuote } from "../../containers/shell-quote.ts";

/** `find` and the shell take a start that begins like this for an option or an operator (D3). */
const OPERATOR_START = /^[-(),!]/;

/** The path in a spelling that no program takes for anything else. */
export function plainPath(path: string): string {
  return OPERATOR_START.test(path) ? `./${path}` : path;
}

/**
 * `search | filter`, where the filter's answer goes out and the exit code is that of `search`: its status travels past the
 * pipe on descriptor 3.
 */
export function pipeKeepingStatus(search: string, filter: string): string {
  return `{ { { ${search}; echo $? >&3; } | { ${filter}; } >&4; } 3>&1 | { read -r status; exit "$status"; }; } 4>&1`;
}

/** The first `count` lines, then the number of all lines. */
export function firstLinesAndTotal(count: number): string {
  return `LC_ALL=C sed -n -e '1,${count}p' -e '$='`;
}

export interface SearchCommand {
  /** The pipeline. */
  sorted: string;
  /** The search program alone, for a shell that cannot run the pipeline. */
  plain: string;
}

/** What programs say of an option they do not have, on the shells that are known. */
const OPTION_REFUSED = /(?:unrecognized|unrecognised|invalid|unknown|illegal) (?:option|argument)/i;

/** Whether an empty answer means that the program did not understand its options: a failure, not "nothing found". */
export function refusedOptions({ stdout, stderr }: ExecResult): boolean {
  return stdout.trim() === "" && OPTION_REFUSED.test(stderr);
}

export async function runSearch(
  env: Sandbox,
  { sorted, plain }: SearchCommand,
  signal: AbortSignal | undefined,
): Promise<ExecResult> {
  const result = await env.exec(sorted, { signal });
  // Found, but nothing came through: a program behind the search is missing.
  const lost = result.exitCode === 0 && result.stdout.trim() === "" && result.stderr.trim() !== "";
  return lost || refusedOptions(result) ? env.exec(plain, { signal }) : result;
}

export function commandLine(words: readonly string[], ...operands: readonly string[]): string {
  return [...words, "--", ...operands.map(shellQuote)].join(" ");
}

export interface CountedLines {
  lines: string[];
  /** The number of all lines; absent where the answer was not made by a pipeline (doubles, search verbs). */
  total: number | undefined;
}

/** Takes the number off the end of a pipeline's answer. Lines are kept as they are, blanks too. */
export function parseCountedLines(stdout: string): CountedLines {
  const lines = stdout.replace(/\n$/, "").split("\n");
  const last = lines.at(-1) ?? "";
  const shown = lines.length - 1;
  const total = /^[1-9]\d*$/.test(last) ? Number(last) : 0;
  return total > 0 && total >= shown && shown > 0 ? { lines: lines.slice(0, -1), total } : { lines, total: undefined };
}

/** Order of the UTF-8 bytes, which JavaScript's own order of code units is not. */
export function compareBytes(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const x = a.charCodeAt(i);
    const y = b.charCodeAt(i);
    if (x !== y) return byteRank(x) - byteRank(y);
  }
  return a.length - b.length;
}

/** Surrogates stand for code points above all other units. */
function byteRank(unit: number): number {
  return unit >= 0xd800 && unit < 0xe000 ? unit + 0x10000 : unit;
}

/** A path as shown: one that a reader could not tell from its surroundings is quoted (D15). */
export function showPath(path: string): string {
  const name = path.slice(path.lastIndexOf("/") + 1);
  const plain = !path.includes("\n") && path === path.trim() && name === name.trim();
  return plain ? path : JSON.stringify(path);
}

/** The path behind a shown one, for a search verb that quotes by itself; what we would not have quoted is as written. */
export function readShownPath(shown: string): string {
  if (!shown.startsWith('"')) return shown;
  try {
    const path: unknown = JSON.parse(shown);
    return typeof path === "string" && showPath(path) === shown ? path : shown;
  } catch {
    return shown;
  }
}
