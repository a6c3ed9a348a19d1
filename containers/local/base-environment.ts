/**
 * What commands of `local()` inherit from the process that runs them, and nothing else of it. `berth-exec` keeps to the
 * same list.
 *
 * Source: contract TOOLS 13.1.
 */
const INHERITED = [
  ...["PATH", "HOME", "USER", "LOGNAME", "HOSTNAME", "SHELL", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TERM"],
  ...["TMPDIR", "TMP", "TEMP"],
];

export function baseEnvironment(environment: NodeJS.ProcessEnv): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const name of INHERITED) {
    const value = environment[name];
    if (value !== undefined) kept[name] = value;
  }
  return kept;
}
