/**
 * `npm start`: installs what is missing, runs `wrangler dev` on this machine without an account and without Docker (which
 * only SANDBOX=container needs), and says where it answers and what to try.
 *
 * Owns one folder a run, `.wrangler/berth/<pid>`: the settings for the Worker (mode 0600, never on a command line),
 * wrangler's log and its registry. The folder goes when the run ends; what a killed run left is swept by the next.
 * Plain JavaScript: it runs before anything is installed.
 */
import fs from "node:fs";
import net from "node:net";
import path from "node:path";
import { prepareContainerEngine } from "./container-engine.mjs";
import { needsContainers, parseDevArguments, renderAddress } from "./dev-arguments.mjs";
import { collectSettings, filterHostEnvironment, OPEN_FLAG } from "./dev-settings.mjs";
import { parseEnvFile, renderEnvFile } from "./env-file.mjs";
import { ensureInstalled, projectRoot } from "./install.mjs";
import { withLocalSettings } from "./local-settings.mjs";
import { packSkillsAloud } from "./pack-skills.mjs";
import { spawnScript } from "./spawn-script.mjs";
import { watchSkills } from "./watch-skills.mjs";
import { renderWelcome } from "./welcome.mjs";

const POLL_MS = 50;
const PARENT_CHECK_MS = 1000;
const KILL_AFTER_MS = 8000;

/** @param {string} file */
function readVariables(file) {
  try {
    return parseEnvFile(fs.readFileSync(file, "utf8"));
  } catch {
    return undefined;
  }
}

/** What the deployer wrote down: the named env files, else `.dev.vars` as wrangler finds it. @param {import("./dev-arguments.mjs").DevArguments} dev */
function readFileVariables(dev) {
  if (dev.envFiles.length > 0) {
    return Object.assign({}, ...dev.envFiles.map((file) => readVariables(path.resolve(projectRoot, file))));
  }
  const names = dev.environment ? [`.dev.vars.${dev.environment}`, ".dev.vars"] : [".dev.vars"];
  return names.map((name) => readVariables(path.join(projectRoot, name))).find((found) => found) ?? {};
}

/** The number of the port that was bound for a moment. @param {string} ip @param {number} port @returns {Promise<number>} */
function probePort(ip, port) {
  return new Promise((resolve, reject) => {
    const server = net.createServer();
    server.once("error", reject);
    server.listen(port, ip === "*" ? undefined : ip, () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" && address ? address.port : port));
    });
  });
}

/** @param {string} ip @param {number} port */
async function choosePort(ip, port) {
  try {
    return await probePort(ip, port);
  } catch (error) {
    const code = /** @type {NodeJS.ErrnoException} */ (error).code;
    if (code === "EADDRINUSE") {
      throw new Error(`Port ${port} is taken on ${ip}. Choose another: npm start -- --port ${port + 1}`);
    }
    throw new Error(`${ip}:${port} cannot be listened on (${code}).`);
  }
}

/** Makes this run's folder and removes those whose run is over. */
function openRunFolder() {
  const base = path.join(projectRoot, ".wrangler/berth");
  fs.mkdirSync(base, { recursive: true });
  for (const name of fs.readdirSync(base)) {
    try {
      process.kill(Number(name), 0);
    } catch (error) {
      if (/** @type {NodeJS.ErrnoException} */ (error).code === "EPERM") continue;
      fs.rmSync(path.join(base, name), { recursive: true, force: true });
    }
  }
  const folder = path.join(base, String(process.pid));
  fs.rmSync(folder, { recursive: true, force: true });
  fs.mkdirSync(folder, { mode: 0o700 });
  return folder;
}

/** The parent's own parent, where `/proc` tells. @returns {string | undefined} */
function readGrandparent() {
  try {
    return /^PPid:\t(\d+)/m.exec(fs.readFileSync(`/proc/${process.ppid}/status`, "utf8"))?.[1];
  } catch {
    return undefined;
  }
}

/** Calls `stop` once whoever started this script is gone: its parent, or the npm behind the parent's shell. @param {() => void} stop */
function watchStarter(stop) {
  const parent = process.ppid;
  const npm = process.env.npm_lifecycle_event === "start" ? readGrandparent() : undefined;
  setInterval(() => {
    if (process.ppid !== parent || (npm !== undefined && readGrandparent() !== npm)) stop();
  }, PARENT_CHECK_MS).unref();
}

/** What `/health` says once it answers; nothing when `isOver` says so first. @param {string} address @param {() => boolean} isOver */
async function waitForHealth(address, isOver) {
  while (!isOver()) {
    try {
      const answer = await fetch(`${address}/health`, { signal: AbortSignal.timeout(2000) });
      const health = await answer.json();
      if (answer.ok) return health;
    } catch {
      // Not listening yet.
    }
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  return undefined;
}

async function main() {
  ensureInstalled();
  packSkillsAloud();
  const args = process.argv.slice(2);
  const asked = parseDevArguments(args);
  const settings = withLocalSettings(collectSettings(process.env, readFileVariables(asked), asked), projectRoot);
  const dev = parseDevArguments(args, settings.SANDBOX);
  const port = await choosePort(dev.ip, dev.port);
  const address = renderAddress(dev.ip, port);
  const runFolder = openRunFolder();
  const plain = filterHostEnvironment(process.env, runFolder);
  const environment = needsContainers(settings.SANDBOX)
    ? prepareContainerEngine(plain, runFolder, settings.SANDBOX)
    : plain;
  const envFile = path.join(runFolder, "settings.env");
  fs.writeFileSync(envFile, renderEnvFile(settings), { mode: 0o600 });

  const child = spawnScript(
    "node_modules/wrangler/bin/wrangler.js",
    ["dev", "--ip", dev.ip, "--port", String(port), "--env-file", envFile, ...dev.rest],
    { cwd: projectRoot, env: environment },
  );

  /** @type {number | undefined} */
  let exitCode;
  const exited = new Promise((resolve) => {
    child.once("error", (error) => {
      console.error(`berth: wrangler could not be started: ${error.message}`);
      exitCode = 1;
      resolve(undefined);
    });
    child.once("exit", (code, signal) => {
      exitCode = code ?? (signal ? 1 : 0);
      resolve(undefined);
    });
  });

  let stopping = false;
  const stop = () => {
    if (stopping) return;
    stopping = true;
    child.kill("SIGTERM");
    setTimeout(() => child.kill("SIGKILL"), KILL_AFTER_MS).unref();
  };
  for (const signal of /** @type {const} */ (["SIGINT", "SIGTERM", "SIGHUP"])) process.on(signal, stop);
  watchStarter(stop);
  watchSkills(projectRoot);

  const health = await waitForHealth(address, () => exitCode !== undefined || stopping);
  if (health && !stopping) console.log(renderWelcome(address, settings[OPEN_FLAG] !== undefined, health));
  await exited;
  fs.rmSync(runFolder, { recursive: true, force: true });
  process.exitCode = stopping ? 0 : (exitCode ?? 0);
}

try {
  await main();
} catch (error) {
  console.error(`berth: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
}
