/**
 * Splits a `SKILL.md` into its front matter and its body, and reads the front matter as YAML in which every scalar is a
 * string.
 *
 * The front matter ends at the first line that is exactly `---`; later ones are rules of the body. What people write is
 * often no YAML by one colon ("Use for old code: never new"). Such a front matter is read once more with its plain
 * values quoted, rather than losing the skill.
 *
 * Source: contract RUNTIME 8.
 */
import { isMap, parseDocument } from "yaml";
import { MAX_SKILL_ALIASES } from "../protocol/limits.ts";

export interface FrontMatter {
  fields: ReadonlyMap<string, unknown>;
  body: string;
}

const OPENING = /^\uFEFF?---\r?\n/;
const CLOSING = /(?:^|\n)---\r?(?:\n|$)/;

/** A key at the start of a line and its value, with the indented lines that go on with it. */
const PLAIN_ENTRY = /^([A-Za-z][\w-]*):[ \t]+(\S.*(?:\n[ \t]+\S.*)*)$/gm;
/** Values that are no plain text: quoted, a block with its header, or a list or map in brackets. */
const NOT_PLAIN = /^(?:".*"|'.*'|\[.*\]|\{.*\})$|^[|>][-+\d]*(?:[ \t]+#[^\n]*)?(?:\n|$)/s;

function quotePlainValues(yaml: string): string {
  return yaml.replaceAll(PLAIN_ENTRY, (entry: string, key: string, value: string) => {
    if (NOT_PLAIN.test(value)) return entry;
    const folded = value
      .split("\n")
      .map((line) => line.trim())
      .join(" ");
    return `${key}: ${JSON.stringify(folded)}`;
  });
}

function parseYaml(yaml: string): ReadonlyMap<string, unknown> {
  // The empty line stands for the opening `---`, so that an error names the line of the file.
  const document = parseDocument(`\n${yaml}`, { schema: "failsafe" });
  const [error] = document.errors;
  if (error) throw error;
  if (!isMap(document.contents)) throw new Error("the front matter is not a list of `name: value` lines");
  // A map of a map's entries; the failsafe schema knows nothing but text, lists and maps.
  return document.toJS({ mapAsMap: true, maxAliasCount: MAX_SKILL_ALIASES }) as ReadonlyMap<string, unknown>;
}

function firstLine(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return (text.split("\n")[0] ?? "").replace(/[:.]$/, "");
}

function readFields(yaml: string): ReadonlyMap<string, unknown> {
  try {
    return parseYaml(yaml);
  } catch (fault) {
    const quoted = quotePlainValues(yaml);
    try {
      if (quoted !== yaml) return parseYaml(quoted);
    } catch {
      // The fault of what was really written says more.
    }
    throw new Error(`the front matter is not valid YAML: ${firstLine(fault)}.`, { cause: fault });
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
