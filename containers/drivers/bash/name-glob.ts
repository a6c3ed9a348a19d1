/** File-name globs as `find -name` and `grep --include` take them: `*`, `?`, `[...]`, `\x`; a leading dot is ordinary. */

/** Whether the whole name matches. Time grows with the product of the lengths at most. */
export function matchesName(pattern: string, name: string): boolean {
  const tokens = parsePattern(pattern);
  const units = [...name];
  let token = 0;
  let unit = 0;
  let starToken = -1;
  let starUnit = 0;
  while (unit < units.length) {
    const current = tokens[token];
    if (current === "*") {
      starToken = token;
      starUnit = unit;
      token += 1;
    } else if (current?.(units[unit] ?? "")) {
      token += 1;
      unit += 1;
    } else if (starToken >= 0) {
      starUnit += 1;
      unit = starUnit;
      token = starToken + 1;
    } else {
      return false;
    }
  }
  while (tokens[token] === "*") token += 1;
  return token === tokens.length;
}

/** `*.{ts,tsx}` as `*.ts` and `*.tsx`, which ripgrep's globs allow; without braces the pattern itself. */
export function expandBraces(pattern: string): string[] {
  const match = /^(.*?)\{([^{}]*,[^{}]*)\}(.*)$/s.exec(pattern);
  if (match === null) return [pattern];
  const [, before = "", choices = "", after = ""] = match;
  return choices.split(",").flatMap((choice) => expandBraces(`${before}${choice}${after}`));
}

type Token = "*" | ((character: string) => boolean);

const CLASSES: Readonly<Record<string, RegExp>> = {
  alnum: /[\p{L}\p{N}]/u,
  alpha: /\p{L}/u,
  digit: /[0-9]/,
  lower: /\p{Ll}/u,
  upper: /\p{Lu}/u,
  punct: /[!-/:-@[-`{-~]/,
  space: /\s/,
  xdigit: /[0-9A-Fa-f]/,
};

function parsePattern(pattern: string): Token[] {
  const tokens: Token[] = [];
  const characters = [...pattern];
  let index = 0;
  while (index < characters.length) {
    const character = characters[index] ?? "";
    index += 1;
    if (character === "*") {
      if (tokens.at(-1) !== "*") tokens.push("*");
    } else if (character === "?") {
      tokens.push(() => true);
    } else if (character === "[") {
      const set = parseSet(characters, index);
      if (set === undefined) {
        tokens.push((other) => other === "[");
      } else {
        tokens.push(set.test);
        index = set.end;
      }
    } else {
      const literal = character === "\\" && index < characters.length ? (characters[index++] ?? "") : character;
      tokens.push((other) => other === literal);
    }
  }
  return tokens;
}

/** A bracket set from just after its `[`; `undefined` when it is not closed, and `[` is then a letter. */
function parseSet(
  characters: string[],
  start: number,
): { test: (character: string) => boolean; end: number } | undefined {
  let index = start;
  const isNegated = characters[index] === "!" || characters[index] === "^";
  if (isNegated) index += 1;
  const members: ((character: string) => boolean)[] = [];
  const first = index;
  for (;;) {
    let from = characters[index];
    if (from === undefined) return undefined;
    if (from === "]" && index > first) break;
    const named = from === "[" ? /^\[:([a-z]+):\]/.exec(characters.slice(index, index + 12).join("")) : null;
    const known = CLASSES[named?.[1] ?? ""];
    if (named !== null && known !== undefined) {
      members.push((character) => known.test(character));
      index += named[0].length;
      continue;
    }
    if (from === "\\" && characters[index + 1] !== undefined) from = characters[++index] ?? "";
    const to = characters[index + 2];
    if (characters[index + 1] === "-" && to !== undefined && to !== "]") {
      const low = from.codePointAt(0) ?? 0;
      const high = to.codePointAt(0) ?? 0;
      members.push((character) => low <= (character.codePointAt(0) ?? -1) && (character.codePointAt(0) ?? -1) <= high);
      index += 3;
    } else {
      const member = from;
      members.push((character) => character === member);
      index += 1;
    }
  }
  return { test: (character) => members.some((member) => member(character)) !== isNegated, end: index + 1 };
}
