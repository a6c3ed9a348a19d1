/**
 * Global set-up of the lab's suites: the bridge, in `wrangler dev` with real containers. Must run inside the lab
 * (`$IN_LAB`, ../shared/container-lab), where the engine and its network are.
 */
import { spawn } from "node:child_process";
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import type { TestProject } from "vitest/node";
import { findFreePort } from "../processes/berth-process.ts";
import { killTree, listTree, waitUntilGone } from "../processes/process-tree.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** Address of the bridge; only in the lab. */
    bridgeUrl?: string;
    /** Process id of the bridge's `wrangler dev`. */
    bridgePid?: number;
  }
}

const ROOT = path.resolve(import.meta.dirname, "../..");
const READY_WITHIN_MS = 180_000;
const STOP_WITHIN_MS = 20_000;
const POLL_MS = 50;

async function answers(url: string): Promise<boolean> {
  try {
    return (await fetch(`${url}/health`, { signal: AbortSignal.timeout(2_000) })).ok;
  } catch {
    return false;
  }
}

export default async function startBridge(project: TestProject): Promise<() => Promise<void>> {
  if (!process.env.DOCKER_HOST) {
    throw new Error(
      "The lab's suites need a container engine: ../shared/container-lab/up; . ../shared/container-lab/env; " +
        "$IN_LAB node test/run.mjs lab",
    );
  }
  const folder = mkdtempSync(path.join(tmpdir(), "berth-lab-"));
  const port = await findFreePort();
  const url = `http://127.0.0.1:${port}`;
  const logFile = path.join(folder, "bridge.log");
  const log = openSync(logFile, "a");
  const config = path.join(import.meta.dirname, "bridge/wrangler.toml");
  const child = spawn(
    process.execPath,
    [
      path.join(ROOT, "node_modules/wrangler/bin/wrangler.js"),
      ...["dev", "--config", config, "--local", "--ip", "127.0.0.1", "--port", String(port), "--inspector-port", "0"],
      ...["--persist-to", path.join(folder, "state"), "--show-interactive-dev-session=false", "--log-level", "warn"],
    ],
    {
      cwd: ROOT,
      env: { ...process.env, NO_COLOR: "1", CI: "1", WRANGLER_LOG_PATH: folder },
      stdio: ["ignore", log, log],
    },
  );
  closeSync(log);
  const { pid } = child;
  if (pid === undefined) throw new Error("The bridge could not be started.");
  const stop = async () => {
    const tree = listTree(pid);
    // wrangler removes the containers of its session when it is asked to end.
    child.kill("SIGTERM");
    await waitUntilGone(tree, STOP_WITHIN_MS).catch(() => killTree(pid));
    rmSync(folder, { recursive: true, force: true });
  };
  const giveUpAt = Date.now() + READY_WITHIN_MS;
  while (!(await answers(url))) {
    if (child.exitCode !== null || Date.now() > giveUpAt) {
      const tail = readFileSync(logFile, "utf8").slice(-3_000);
      await stop();
      throw new Error(`The bridge did not become ready:\n${tail}`);
    }
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  project.provide("bridgeUrl", url);
  project.provide("bridgePid", pid);
  return stop;
}
