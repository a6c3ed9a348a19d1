/**
 * The arguments of `wrangler dev`: our defaults, and the caller's own, which win.
 */

const DEFAULT_PORT = 8787;
const DEFAULT_IP = "127.0.0.1";

/** The value of SANDBOX and the environment of `wrangler.toml`. */
export const CONTAINER_ENVIRONMENT = "container";

/**
 * The value the caller gave a flag: text after it, `true` when it stands alone, `undefined` when it is not there.
 * Understands `--name value`, `--name=value`, `--no-name` (`false`) and the camel-case spelling.
 *
 * @param {readonly string[]} args @param {string} name @param {string} [letter]
 * @returns {string | boolean | undefined}
 */
export function readFlag(args, name, letter) {
  const camel = name.replace(/-([a-z])/g, (_, initial) => initial.toUpperCase());
  const spellings = [`--${name}`, `--${camel}`, ...(letter ? [`-${letter}`] : [])];
  /** @type {string | boolean | undefined} */
  let found;
  args.forEach((arg, at) => {
    const [head = "", ...rest] = arg.split("=");
    if (arg === `--no-${name}`) found = false;
    else if (spellings.includes(head)) {
      const next = args[at + 1];
      found = rest.length ? rest.join("=") : next !== undefined && !next.startsWith("-") ? next : true;
    }
  });
  return found;
}

/** Every value of a flag that may come more than once. @param {readonly string[]} args @param {string} name */
function readValues(args, name) {
  return args.flatMap((arg, at) => {
    if (arg.startsWith(`--${name}=`)) return [arg.slice(name.length + 3)];
    return arg === `--${name}` ? [args[at + 1] ?? ""] : [];
  });
}

/** @param {string | boolean | undefined} value */
function isOn(value) {
  return value !== undefined && value !== false && value !== "false";
}

/** @param {readonly string[]} args @param {readonly string[]} names */
function withoutFlags(args, names) {
  /** @type {string[]} */
  const kept = [];
  for (let at = 0; at < args.length; at++) {
    const arg = args[at] ?? "";
    const [head = ""] = arg.split("=");
    if (!names.includes(head)) kept.push(arg);
    else if (!arg.includes("=") && args[at + 1] !== undefined && !args[at + 1]?.startsWith("-")) at++;
  }
  return kept;
}

/**
 * @typedef {{ ip: string, port: number, loopback: boolean, environment: string | undefined, envFiles: string[],
 *   rest: string[] }} DevArguments
 * `port` 0 asks for a free one; `envFiles` stand in for `.dev.vars`, as with wrangler; `rest` is what goes to wrangler
 * besides `--ip`, `--port` and `--env-file`.
 */

/** Whether the sandbox is a container that this machine must run. @param {string | undefined} sandbox */
export function needsContainers(sandbox) {
  return sandbox === CONTAINER_ENVIRONMENT || sandbox === "cloudflare";
}

/**
 * @param {readonly string[]} args
 * @param {string} [sandbox] containers are on for the kinds that need them; with `container` its environment runs
 * @returns {DevArguments}
 */
export function parseDevArguments(args, sandbox) {
  const port = Number(readFlag(args, "port") ?? DEFAULT_PORT);
  if (!Number.isInteger(port) || port < 0 || port > 65_535) throw new Error("--port must be a number from 0 to 65535");
  const given = readFlag(args, "ip");
  const ip = typeof given === "string" ? given : DEFAULT_IP;
  const remote = isOn(readFlag(args, "remote", "r"));
  const environment = readFlag(args, "env", "e");
  const rest = withoutFlags(args, ["--port", "--ip", "--env-file"]);
  const defaults = {
    "enable-containers": `--enable-containers=${needsContainers(sandbox)}`,
    "show-interactive-dev-session": "--show-interactive-dev-session=false",
    "inspector-port": "--inspector-port=0",
  };
  for (const [name, flag] of Object.entries(defaults)) if (readFlag(args, name) === undefined) rest.unshift(flag);
  if (sandbox === CONTAINER_ENVIRONMENT && environment === undefined) rest.unshift("--env", CONTAINER_ENVIRONMENT);
  if (!remote && readFlag(args, "local", "l") === undefined) rest.unshift("--local");
  const tunnel = isOn(readFlag(args, "tunnel")) || isOn(readFlag(args, "tunnel-name"));
  return {
    ip,
    port,
    loopback: isLoopback(ip) && !remote && !tunnel,
    environment: typeof environment === "string" ? environment : undefined,
    envFiles: readValues(args, "env-file"),
    rest,
  };
}

/** @param {string} ip */
function isLoopback(ip) {
  return ip === "localhost" || ip === "::1" || /^127(?:\.\d{1,3}){3}$/.test(ip);
}

/** The address to call a server at that listens on `ip`. @param {string} ip @param {number} port */
export function renderAddress(ip, port) {
  const host = ip === "0.0.0.0" || ip === "*" ? DEFAULT_IP : ip === "::" ? "[::1]" : ip.includes(":") ? `[${ip}]` : ip;
  return `http://${host}:${port}`;
}
