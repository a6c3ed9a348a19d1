/** Starts a script as a child of the command line: under the project's Node, not outliving whoever started it. */
import { spawn } from "node:child_process";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { projectNode, projectRoot } from "./install.mjs";

const EXIT_WITH_PARENT = pathToFileURL(path.join(projectRoot, "worker/cli/exit-with-parent.mjs")).href;

/**
 * @param {string} script from the project's root
 * @param {readonly string[]} args
 * @param {import("node:child_process").SpawnOptions} options
 */
export function spawnScript(script, args, options) {
  return spawn(projectNode(projectRoot), ["--import", EXIT_WITH_PARENT, path.join(projectRoot, script), ...args], {
    ...options,
    stdio: ["ignore", "inherit", "inherit"],
  });
}
