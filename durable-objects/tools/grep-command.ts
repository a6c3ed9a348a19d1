/**
 * The command lines of the grep tool.
 *
 * Two steps, so that the whole list is sorted by path without being held anywhere: the names of the files that match,
 * sorted, then their lines in that order. Each line is cut far behind what is shown of it (D18).
 *
 * Source: contract TOOLS 8, D3, D5, D6, D16, D18.
 */
import { shellQuote } from "../../containers/shell-quote.ts";
import { MAX_GREP_LINE_UNITS, MAX_GREP_MATCHES } from "../protocol/limits.ts";
import {
  commandLine,
  firstLinesAndTotal,
  pipeKeepingStatus,
  plainPath,
  type SearchCommand,
} from "./search-pipeline.ts";

export interface GrepRequest {
  pattern: string;
  path: string;
  include: string | undefined;
  literal: boolean;
}

/** Room for a path, and for four bytes of each unit that is shown; a hundred of them fit what a sandbox keeps of stdout. */
const MAX_LINE_BYTES = 3072 + 4 * MAX_GREP_LINE_UNITS;

export function ripgrepCommand(request: GrepRequest): SearchCommand {
  const { pattern } = request;
  const path = plainPath(request.path);
  const how = request.literal ? ["--fixed-strings"] : [];
  const include = request.include === undefined ? [] : ["--glob", shellQuote(request.include)];
  const print = ["rg", "--line-number", "--with-filename", "--color", "never"];
  return {
    sorted: listThenPrint(
      // Binary files are searched to the end and told by name, as when they are named (D6).
      commandLine(["rg", "--files-with-matches", "--null", "--binary", ...how, ...include], pattern, path),
      // One thread keeps the order of the names.
      commandLine([...print, "--null", "--threads", "1", ...how], pattern),
    ),
    plain: commandLine([...print, ...how, ...include], pattern, path),
  };
}

export function grepCommand(request: GrepRequest): SearchCommand {
  const { pattern } = request;
  const path = plainPath(request.path);
  const how = request.literal ? "-F" : "-E";
  const include = request.include === undefined ? [] : [`--include=${shellQuote(request.include)}`];
  return {
    sorted: listThenPrint(
      commandLine(["grep", "-rlH", "--null", how, ...include], pattern, path),
      // -s: only the notes on binary files are left on stderr.
      `${commandLine(["grep", "-snH", "--null", how], pattern)} 2>&1`,
    ),
    plain: commandLine(["grep", "-rnH", how, ...include], pattern, path),
  };
}

/** The first file that only a search without ripgrep's own filters would show; `.git` stays left out (D5). */
export function hiddenSearchCommand(request: GrepRequest): string {
  const how = request.literal ? ["--fixed-strings"] : [];
  const include = request.include === undefined ? [] : ["--glob", shellQuote(request.include)];
  const words = ["rg", "--files-with-matches", "--color", "never", "--hidden", "--no-ignore", ...how, ...include];
  const unfiltered = [...words, "--glob", shellQuote("!.git")];
  return `${commandLine(unfiltered, request.pattern, plainPath(request.path))} | head -n 1`;
}

function listThenPrint(list: string, print: string): string {
  const cut = `LC_ALL=C cut -b 1-${MAX_LINE_BYTES}`;
  const filter = `LC_ALL=C sort -z | xargs -0 -r ${print} | ${cut} | ${firstLinesAndTotal(MAX_GREP_MATCHES)}`;
  return pipeKeepingStatus(list, filter);
}
