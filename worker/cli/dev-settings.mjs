/**
 * What `npm start` hands on: the settings the Worker gets, and the environment wrangler itself runs in.
 *
 * The two never mix. The Worker sees only settings (contract RUNTIME 9) and what the deployer wrote into `.dev.vars`;
 * the process environment wins over the file, and an empty variable takes a setting away. wrangler sees only what it
 * needs to run, so that nothing of the host's environment can reach an agent.
 */

/** @typedef {Record<string, string>} Variables */

/** Every name that starts like this is a setting of ours. */
const OWN_PREFIX = "BERTH_";

/** Settings under names that others coined. */
const FOREIGN_SETTINGS = [
  "ANTHROPIC_API_KEY",
  "ANTHROPIC_BASE_URL",
  "OPENAI_API_KEY",
  "OPENAI_BASE_URL",
  "SANDBOX",
  "GITHUB_WEBHOOK_SECRET",
];

/** Opens the door without tokens; only this script sets it, so a deploy cannot carry it (RUNTIME 1.13). */
export const OPEN_FLAG = "BERTH_DEV_OPEN";

/** Settings that close the door. */
const AUTH_SETTINGS = ["BERTH_TOKENS", "BERTH_JWT_SECRET"];

/** @param {string} name */
function isSetting(name) {
  return name.startsWith(OWN_PREFIX) || FOREIGN_SETTINGS.includes(name);
}

/**
 * @param {NodeJS.ProcessEnv} environment
 * @param {Variables} fileVariables of `.dev.vars`, or of the env files named in its place
 * @param {{ loopback: boolean }} reach whether only this machine can call
 * @returns {Variables}
 */
export function collectSettings(environment, fileVariables, reach) {
  /** @type {Variables} */
  const settings = { ...fileVariables };
  for (const [name, value] of Object.entries(environment)) {
    if (!isSetting(name) || value === undefined) continue;
    if (value === "") delete settings[name];
    else settings[name] = value;
  }
  settings.SANDBOX ||= "virtual";
  delete settings[OPEN_FLAG];
  const closed = AUTH_SETTINGS.some((name) => (settings[name] ?? "").trim() !== "");
  if (reach.loopback && !closed) settings[OPEN_FLAG] = "1";
  return settings;
}

const HOST_NAMES = [
  ...["PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "TZ", "TERM", "TMPDIR", "TMP", "TEMP"],
  ...["NO_COLOR", "FORCE_COLOR", "CI", "NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE", "SSL_CERT_DIR"],
  ...["HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy"],
  ...["SystemRoot", "APPDATA", "LOCALAPPDATA", "USERPROFILE", "PATHEXT", "ComSpec", "Path"],
];
const HOST_PREFIXES = ["LC_", "XDG_", "WRANGLER_", "CLOUDFLARE_", "DOCKER_", "MINIFLARE_CONTAINER_"];
/** Would undo the separation. */
const REFUSED = ["CLOUDFLARE_INCLUDE_PROCESS_ENV", "CLOUDFLARE_LOAD_DEV_VARS_FROM_DOT_ENV"];

/**
 * @param {NodeJS.ProcessEnv} environment
 * @param {string} runFolder a folder of this run's own
 * @returns {Variables}
 */
export function filterHostEnvironment(environment, runFolder) {
  /** @type {Variables} */
  const kept = {
    CLOUDFLARE_CF_FETCH_ENABLED: "false",
    WRANGLER_HIDE_BANNER: "true",
    WRANGLER_LOG_PATH: `${runFolder}/logs`,
  };
  for (const [name, value] of Object.entries(environment)) {
    const wanted = HOST_NAMES.includes(name) || HOST_PREFIXES.some((prefix) => name.startsWith(prefix));
    if (wanted && value !== undefined && !REFUSED.includes(name)) kept[name] = value;
  }
  return {
    ...kept,
    WRANGLER_SEND_METRICS: "false",
    WRANGLER_SEND_ERROR_REPORTS: "false",
    // Two runs of one checkout are two services of the same name; neither should find the other.
    WRANGLER_REGISTRY_PATH: `${runFolder}/registry`,
    MINIFLARE_REGISTRY_PATH: `${runFolder}/registry`,
    X_LOCAL_EXPLORER: "false",
    X_LOCAL_OBSERVABILITY: "false",
  };
}
