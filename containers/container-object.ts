/**
 * The Durable Object that owns one conversation's container: starts it, runs programs in it, notices its end, and lets it
 * sleep when nothing has been at work for a while.
 *
 * Owns, in memory, the number of programs at work and what is known of the running container; in storage, how long it may
 * idle, and the alarm. The files in the container end with it: `generation` tells one file system from the next.
 */
import { DurableObject } from "cloudflare:workers";
import {
  CONTAINER_DEATH_NOTICE_MS,
  CONTAINER_START_MS,
  SANDBOX_SLEEP_AFTER_MS,
  SANDBOX_SLEEP_CHECK_MS,
} from "../durable-objects/protocol/limits.ts";
import { collectBytes } from "./collect-bytes.ts";
import type { ContainerRpc, ProgramOptions, ProgramResult } from "./container-rpc.ts";
import { EXEC_STATE_FOLDER } from "./exec-script.ts";
import { SandboxDiedError } from "./sandbox-died-error.ts";

const MARKER = "/var/lib/berth/generation";
/** Whether a command has a living runner and no answer yet, whoever waits for it. */
const IS_AT_WORK = `for folder in ${EXEC_STATE_FOLDER}/*/; do
  if [ ! -e "$folder/answer" ] && read -r pid _ 2>/dev/null < "$folder/runner" && [ -d "/proc/$pid" ]; then exit 0; fi
done
exit 1`;
const SLEEP_AFTER_KEY = "sleepAfterMs";
const LAST_USED_KEY = "lastUsedAt";
/** How finely the last use is noted: parts of the time a container may idle. */
const USE_STEPS = 20;
const INACTIVITY_MARGIN_MS = 60_000;
const START_POLL_MS = 50;
const MAX_MARKER_BYTES = 100;
const FIRST_SIGNAL_EXIT_CODE = 129;
const NO_CONTAINER =
  "SANDBOX=container has no container to work in: start with `SANDBOX=container npm start` and a container engine " +
  "(Docker), or deploy with `wrangler deploy --env container`; or set SANDBOX=virtual.";

/** A container that runs, from its start (or from when this object first saw it) to its end. */
interface RunningContainer {
  /** Resolves when it has stopped; never rejects. */
  ended: Promise<void>;
  generation: string;
}

function wait(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

export class ContainerSandbox extends DurableObject implements ContainerRpc {
  #opened: Promise<RunningContainer> | undefined;
  #atWork = 0;

  async run(argv: string[], options: ProgramOptions): Promise<ProgramResult> {
    this.#atWork++;
    try {
      const { ended } = await this.#open();
      return await this.#runUntil(ended, argv, options);
    } finally {
      this.#atWork--;
      this.#noteUse();
    }
  }

  async generation(): Promise<string | undefined> {
    if (!this.#container().running) return undefined;
    return (await this.#open()).generation;
  }

  async setSleepAfter(ms: number): Promise<void> {
    if (ms !== this.#sleepAfterMs()) this.ctx.storage.kv.put(SLEEP_AFTER_KEY, ms);
  }

  /** Puts the container to sleep once nothing has been at work for long enough. */
  override async alarm(): Promise<void> {
    const { container } = this.ctx;
    if (!container?.running) return;
    const idleUntil = this.#lastUsedAt() + this.#sleepAfterMs();
    if (this.#atWork > 0 || Date.now() < idleUntil || (await this.#hasCommandAtWork())) {
      await this.ctx.storage.setAlarm(Math.max(idleUntil, Date.now() + SANDBOX_SLEEP_CHECK_MS));
    } else {
      await container.destroy();
    }
  }

  #container(): Container {
    const { container } = this.ctx;
    if (!container) throw new Error(NO_CONTAINER);
    return container;
  }

  #sleepAfterMs(): number {
    return this.ctx.storage.kv.get<number>(SLEEP_AFTER_KEY) ?? SANDBOX_SLEEP_AFTER_MS;
  }

  #lastUsedAt(): number {
    return this.ctx.storage.kv.get<number>(LAST_USED_KEY) ?? Date.now();
  }

  /** Kept in storage, since the object may be evicted while its container idles; roughly, to write seldom. */
  #noteUse(): void {
    const now = Date.now();
    if (now - this.#lastUsedAt() > this.#sleepAfterMs() / USE_STEPS) this.ctx.storage.kv.put(LAST_USED_KEY, now);
  }

  /** The running container, started where none runs; the same for all who ask until it ends. */
  #open(): Promise<RunningContainer> {
    this.#opened ??= this.#start().catch((error: unknown) => {
      this.#opened = undefined;
      throw error;
    });
    return this.#opened;
  }

  async #start(): Promise<RunningContainer> {
    const container = this.#container();
    if (!container.running) container.start({ enableInternet: true });
    let why = "it stopped at once";
    let isOver = false;
    const ended = container
      .monitor()
      .catch((error: unknown) => {
        why = error instanceof Error ? error.message : String(error);
      })
      .then(() => {
        isOver = true;
        this.#opened = undefined;
      });
    const giveUpAt = Date.now() + CONTAINER_START_MS;
    for (;;) {
      const generation = await Promise.race([this.#readMarker(), ended.then(() => undefined)]);
      if (generation !== undefined) {
        // The alarm puts it to sleep; without this it would end with the object's own eviction, a minute after the last call.
        await container.setInactivityTimeout(this.#sleepAfterMs() + INACTIVITY_MARGIN_MS);
        this.ctx.storage.kv.put(LAST_USED_KEY, Date.now());
        await this.ctx.storage.setAlarm(Date.now() + this.#sleepAfterMs());
        return { ended, generation };
      }
      if (isOver) throw new Error(`The sandbox's container could not be started: ${why}. ${NO_CONTAINER}`);
      if (Date.now() > giveUpAt) throw new Error(`The sandbox's container was not ready in ${CONTAINER_START_MS} ms.`);
      await wait(START_POLL_MS);
    }
  }

  /** The file system's id, which its first process writes; `undefined` as long as the container is not up. */
  async #readMarker(): Promise<string | undefined> {
    try {
      const options = { operation: "start", maxBytes: MAX_MARKER_BYTES };
      const { stdout, exitCode } = await this.#exec(["cat", MARKER], options);
      const text = new TextDecoder().decode(stdout).trim();
      return exitCode === 0 && text !== "" ? text : undefined;
    } catch {
      return undefined;
    }
  }

  async #runUntil(ended: Promise<void>, argv: string[], options: ProgramOptions): Promise<ProgramResult> {
    const died = new SandboxDiedError(options.operation, "stopped");
    const isGone = (ms: number) => Promise.race([ended.then(() => true), wait(ms).then(() => false)]);
    const work = this.#exec(argv, options).then(
      async (result) => {
        // A program that a signal ended may have been ended with its container.
        const isSuspect = result.exitCode < 0 || result.exitCode >= FIRST_SIGNAL_EXIT_CODE;
        if (isSuspect && (await isGone(CONTAINER_DEATH_NOTICE_MS))) throw died;
        return result;
      },
      async (error: unknown) => {
        throw (await isGone(CONTAINER_DEATH_NOTICE_MS)) ? died : error;
      },
    );
    work.catch(() => {});
    return Promise.race([work, ended.then(() => Promise.reject(died))]);
  }

  async #exec(argv: string[], { stdin, user, cwd, maxBytes }: ProgramOptions): Promise<ProgramResult> {
    const program = await this.#container().exec(argv, {
      ...(user !== undefined && { user }),
      ...(cwd !== undefined && { cwd }),
      ...(stdin && { stdin: "pipe" as const }),
    });
    const fed = stdin && program.stdin ? feed(program.stdin, stdin) : undefined;
    const [stdout, stderr, exitCode] = await Promise.all([
      collectBytes(program.stdout, maxBytes),
      collectBytes(program.stderr, maxBytes),
      program.exitCode,
      fed,
    ]);
    return { stdout, stderr, exitCode };
  }

  async #hasCommandAtWork(): Promise<boolean> {
    const { exitCode } = await this.#exec(["bash", "-c", IS_AT_WORK], {
      operation: "exec",
      maxBytes: MAX_MARKER_BYTES,
    });
    return exitCode === 0;
  }
}

/** A program may end before it has read everything: what is left over is nobody's fault. */
async function feed(stdin: WritableStream<Uint8Array>, bytes: Uint8Array): Promise<void> {
  try {
    const writer = stdin.getWriter();
    if (bytes.length > 0) await writer.write(bytes);
    await writer.close();
  } catch {
    // Its exit code tells how it ended.
  }
}
