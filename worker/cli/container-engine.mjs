/**
 * The container engine that `npm start` with SANDBOX=container or cloudflare needs: is it there, and which base does it build on.
 *
 * Plain JavaScript: it runs before anything is installed.
 */
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";

const ENGINE_TIMEOUT_MS = 20_000;

/** Where the engine has an image of this name, it stands in for the public base: for a machine without a registry. */
const LOCAL_BASE = "berth-base:local";

/** @typedef {Record<string, string>} Variables */

/** @param {string} program @param {string[]} args @param {Variables} environment */
function succeeds(program, args, environment) {
  const run = spawnSync(program, args, { env: environment, stdio: "ignore", timeout: ENGINE_TIMEOUT_MS });
  return run.status === 0;
}

/** @param {string} word */
function quote(word) {
  return `'${word.replaceAll("'", "'\\''")}'`;
}

/**
 * The environment wrangler gets, once an engine has answered. Throws with what to do where none does.
 *
 * @param {Variables} environment what wrangler would get @param {string} runFolder of this run alone
 * @param {string} [sandbox] the kind that was asked for
 * @returns {Variables}
 */
export function prepareContainerEngine(environment, runFolder, sandbox = "container") {
  const program = environment.WRANGLER_DOCKER_BIN || "docker";
  if (!succeeds(program, ["info"], environment)) {
    const where = environment.DOCKER_HOST ? ` at ${environment.DOCKER_HOST}` : "";
    throw new Error(
      `SANDBOX=${sandbox} needs a container engine, and none answers${where} to \`${program} info\`. Start Docker (or name ` +
        "another engine's program in WRANGLER_DOCKER_BIN and its socket in DOCKER_HOST), or run without containers: " +
        "SANDBOX=virtual npm start",
    );
  }
  if (!succeeds(program, ["image", "inspect", LOCAL_BASE], environment)) return environment;
  const wrapper = path.join(runFolder, "engine");
  const build = `if [ "$1" = build ]; then shift; set -- build --build-arg ${quote(`BASE=${LOCAL_BASE}`)} "$@"; fi`;
  fs.writeFileSync(wrapper, `#!/bin/sh\n${build}\nexec ${quote(program)} "$@"\n`, { mode: 0o700 });
  return { ...environment, WRANGLER_DOCKER_BIN: wrapper };
}
