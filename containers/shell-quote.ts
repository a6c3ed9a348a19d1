/** One word of a POSIX shell command line, taken literally. Source: contract TOOLS 8. */
export function shellQuote(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`;
}
