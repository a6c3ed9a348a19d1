/**
 * A real Berth for a test: the start script with a port, a persistence folder and settings of its own.
 *
 * Owns the process tree and the folder. `restart` keeps port and folder, so that clients find the same conversations.
 * Nothing of the developer's own environment or `.dev.vars` reaches it.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { within } from "../wire/within.ts";
import { killTree, listTree, waitUntilGone } from "./process-tree.ts";

const ROOT = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "../..");
const POLL_MS = 25;
const HEALTH_MS = 2_000;
const READY_WITHIN_MS = 60_000;
const STOP_WITHIN_MS = 10_000;
const LOG_TAIL_CHARS = 3_000;

export type BerthSettings = Record<string, string>;

export function findFreePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      const port = typeof address === "object" && address ? address.port : 0;
      server.close(() => resolve(port));
    });
  });
}

export class BerthProcess {
  readonly port: number;
  readonly #settings: BerthSettings;
  readonly #folder = mkdtempSync(path.join(tmpdir(), "berth-test-"));
  #child: ChildProcess | undefined;
  #entry: string | undefined;

  private constructor(port: number, settings: BerthSettings, entry: string | undefined) {
    this.port = port;
    this.#settings = settings;
    this.#entry = entry;
  }

  /**
   * Resolves when it is ready.
   *
   * @param entry the Worker's main file, from the project's root; the product's own when absent.
   */
  static async start(settings: BerthSettings = {}, entry?: string): Promise<BerthProcess> {
    const berth = new BerthProcess(await findFreePort(), settings, entry);
    await berth.restart();
    return berth;
  }

  get baseUrl(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  get log(): string {
    return readFileSync(path.join(this.#folder, "server.log"), "utf8");
  }

  /** Starts it again after `kill`, on the same port and persistence; with another main file where one is given. */
  async restart(entry = this.#entry): Promise<void> {
    this.#entry = entry;
    const log = openSync(path.join(this.#folder, "server.log"), "a");
    const persistence = path.join(this.#folder, "state");
    const main = entry === undefined ? [] : [entry];
    const args = [...main, "--port", String(this.port), "--persist-to", persistence, "--env-file", "/dev/null"];
    const { PATH = "", HOME = "" } = process.env;
    const child = spawn(process.execPath, [path.join(ROOT, "worker/cli/start.mjs"), ...args], {
      cwd: ROOT,
      env: { PATH, HOME, NO_COLOR: "1", CI: "1", ...this.#settings },
      stdio: ["ignore", log, log],
    });
    closeSync(log);
    this.#child = child;
    const end = Date.now() + READY_WITHIN_MS;
    while (!(await this.#answers())) {
      if (child.exitCode !== null || child.signalCode !== null) throw new Error(`Berth ended early:\n${this.#tail()}`);
      if (Date.now() > end) {
        await this.kill();
        throw new Error(`Berth was not ready in time:\n${this.#tail()}`);
      }
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
  }

  /** `kill -9` of start script, wrangler and workerd at once. */
  async kill(): Promise<void> {
    if (this.#child?.pid !== undefined) await killTree(this.#child.pid);
    this.#child = undefined;
  }

  /** As Ctrl-C does; everything it started must be gone after it. */
  async interrupt(): Promise<void> {
    const pid = this.#child?.pid;
    if (pid === undefined) return;
    const tree = listTree(pid);
    this.#child?.kill("SIGINT");
    await waitUntilGone(tree, STOP_WITHIN_MS);
    this.#child = undefined;
  }

  /** Ends it and removes its folder. */
  async stop(): Promise<void> {
    await this.kill();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  async #answers(): Promise<boolean> {
    try {
      return await within(HEALTH_MS, async (signal) => {
        const answer = await fetch(`${this.baseUrl}/health`, { signal });
        await answer.arrayBuffer();
        return answer.ok;
      });
    } catch {
      return false;
    }
  }

  #tail(): string {
    return this.log.slice(-LOG_TAIL_CHARS);
  }
}
