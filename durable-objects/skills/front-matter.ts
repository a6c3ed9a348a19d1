/**
 * Splits a `SKILL.md` into its front matter and its body, and reads the front matter as YAML in which every scalar is a
 * string.
 *
 * The front matter ends at the first line that is exactly `---`, but for blanks behind it; later ones are rules of the
 * body. What people write is often no YAML by one colon ("Use for old code: never new") or one quote within quotes. Such a
 * front matter is read once more with its plain values quoted, rather than losing the skill.
 *
 * Source: contract RUNTIME 8.
 */
import { type Document, isMap, parseDocument } from "yaml";
import { MAX_SKILL_ALIASES } from "../protocol/limits.ts";

export interface FrontMatter {
  fields: ReadonlyMap<string, unknown>;
  body: string;
}

const OPENING = /^\uFEFF?---[ \t]*\r?\n/;
const CLOSING = /(?:^|\n)---[ \t]*\r?(?:\n|$)/;

/** A key at the start of a line and its value, with the indented lines that go on with it. */
const PLAIN_ENTRY = /^([A-Za-z][\w-]*):[ \t]+(\S.*(?:\n[ \t]+\S.*)*)$/gm;
/** Values that are no plain text: quoted, a block with its header, or a list or map in brackets. */
const NOT_PLAIN = /^(?:"(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|\[.*\]|\{.*\})$|^[|>][-+\d]*(?:[ \t]+#[^\n]*)?(?:\n|$)/s;
/** In quotes, but what is in them would have to be escaped: `'it's done'`. */
const BADLY_QUOTED = /^(["'])(.*)\1$/s;

function quotePlainValues(yaml: string): string {
  return yaml.replaceAll(PLAIN_ENTRY, (entry: string, key: string, value: string) => {
    if (NOT_PLAIN.test(value)) return entry;
    const folded = value
      .replace(BADLY_QUOTED, "$2")
      .split("\n")
      .map((line) => line.trim())
      .join(" ");
    return `${key}: ${JSON.stringify(folded)}`;
  });
}

function parseYaml(yaml: string): Document.Parsed {
  // The empty line stands for the opening `---`, so that an error names the line of the file.
  return parseDocument(`\n${yaml}`, { schema: "failsafe" });
}

function invalid(fault: unknown): Error {
  const text = fault instanceof Error ? fault.message : String(fault);
  const line = (text.split("\n")[0] ?? "").replace(/[:.]$/, "");
  return new Error(`the front matter is not valid YAML: ${line}.`, { cause: fault });
}

function readFields(yaml: string): ReadonlyMap<string, unknown> {
  const written = parseYaml(yaml);
  const document = written.errors.length === 0 ? written : parseYaml(quotePlainValues(yaml));
  // The fault of what was really written says more than that of a guess.
  if (document.errors.length > 0) throw invalid(written.errors[0]);
  if (!isMap(document.contents)) throw new Error("the front matter is not a list of `name: value` lines.");
  try {
    // A map, since the contents are one; the failsafe schema knows nothing but text, lists and maps.
    return document.toJS({ mapAsMap: true, maxAliasCount: MAX_SKILL_ALIASES }) as ReadonlyMap<string, unknown>;
  } catch (fault) {
    throw invalid(fault);
  }
}

/** Throws a sentence that says what is wrong. */
export function parseFrontMatter(text: string): FrontMatter {
  const opening = OPENING.exec(text);
  if (!opening) throw new Error("it does not begin with front matter (a first line `---`).");
  const rest = text.slice(opening[0].length);
  const closing = CLOSING.exec(rest);
  if (!closing) throw new Error("its front matter has no end (a line `---`).");
  const fields = readFields(rest.slice(0, closing.index).replaceAll("\r\n", "\n"));
  return { fields, body: rest.slice(closing.index + closing[0].length) };
}
