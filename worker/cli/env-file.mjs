/**
 * Files of `NAME=value` lines: reading `.dev.vars` as wrangler does, and writing values so that wrangler reads exactly
 * them back from an `--env-file`.
 *
 * wrangler reads with dotenv 16 (quotes `'`, `"` and the backtick; `\n` and `\r` mean something in double quotes only;
 * no way to escape a quote) and then expands `$NAME` and `${NAME}`, where `\$` is a dollar. So each value is written in
 * the first quote that reads back right. The one kind of value that cannot be written has all three quotes and besides
 * a `#` or a line end.
 */

/** @typedef {Record<string, string>} Variables */

const LINE =
  /^\s*(?:export\s+)?([\w.-]+)(?:\s*=\s*?|:\s+?)(\s*'(?:\\'|[^'])*'|\s*"(?:\\"|[^"])*"|\s*`(?:\\`|[^`])*`|[^#\r\n]+)?\s*(?:#.*)?$/gm;

/** @param {string} text @returns {Variables} */
export function parseEnvFile(text) {
  /** @type {Variables} */
  const variables = {};
  for (const match of text.replace(/\r\n?/g, "\n").matchAll(LINE)) {
    const [, name, raw = ""] = match;
    if (name === undefined) continue;
    const trimmed = raw.trim();
    const value = trimmed.replace(/^(['"`])([\s\S]*)\1$/, "$2");
    variables[name] = trimmed.startsWith('"') ? value.replace(/\\n/g, "\n").replace(/\\r/g, "\r") : value;
  }
  return variables;
}

/** @param {string} name @param {string} value */
function renderLine(name, value) {
  const dollars = value.replaceAll("$", "\\$");
  const inDouble = dollars.replaceAll("\r", "\\r");
  const written = [`'${dollars}'`, `\`${dollars}\``, `"${inDouble}"`].find((quoted) => {
    const back = parseEnvFile(`${name}=${quoted}\n`);
    return Object.keys(back).length === 1 && back[name] === dollars;
  });
  if (written) return `${name}=${written}\n`;
  throw new Error(`The value of ${name} mixes quotes or line ends in a way that no env file can hold.`);
}

/** Text that wrangler reads back as exactly these values. Throws, naming the variable, where it cannot. @param {Variables} variables */
export function renderEnvFile(variables) {
  return Object.entries(variables)
    .map(([name, value]) => renderLine(name, value))
    .join("");
}
