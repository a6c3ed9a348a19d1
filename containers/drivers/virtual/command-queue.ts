/**
 * The commands of one file store: one after the other in start order, and each key once.
 *
 * Owns the commands in flight, in memory. A command is stopped when every caller that waits for it has gone; a caller that
 * goes is released at once. A stopped command leaves no file change and no outcome (the commit is all or nothing, where a
 * real machine would have kept the half-done work). The next command starts when the stopped one has really ended.
 */
import { abortError } from "../../abort-error.ts";
import type { FileStore } from "../../file-store.ts";
import type { ExecResult } from "../../sandbox.ts";

interface Running {
  result: Promise<ExecResult>;
  stop: AbortController;
  waiting: number;
}

export class CommandQueue {
  #last: Promise<unknown> = Promise.resolve();
  readonly #byKey = new Map<string, Running>();

  /** Starts the command in its turn, or joins the one that runs under the key. `command` sees its stop signal. */
  run(
    key: string | undefined,
    signal: AbortSignal | undefined,
    command: (stop: AbortSignal) => Promise<ExecResult>,
  ): Promise<ExecResult> {
    if (signal?.aborted) return Promise.reject(abortError(signal));
    const known = key === undefined ? undefined : this.#byKey.get(key);
    const running = known ?? this.#start(key, command);
    running.waiting += 1;
    return signal === undefined ? running.result : this.#waitFor(key, running, signal);
  }

  #start(key: string | undefined, command: (stop: AbortSignal) => Promise<ExecResult>): Running {
    const stop = new AbortController();
    const result = this.#last.then(() => {
      stop.signal.throwIfAborted();
      return command(stop.signal);
    });
    const running: Running = { result, stop, waiting: 0 };
    this.#last = result.then(ignore, ignore);
    if (key === undefined) return running;
    this.#byKey.set(key, running);
    const forget = (): void => {
      if (this.#byKey.get(key) === running) this.#byKey.delete(key);
    };
    result.then(forget, forget);
    return running;
  }

  #waitFor(key: string | undefined, running: Running, signal: AbortSignal): Promise<ExecResult> {
    return new Promise((resolve, reject) => {
      const onAbort = (): void => {
        running.waiting -= 1;
        if (running.waiting === 0) {
          // From here on the key is free: nothing of the stopped command will be recorded.
          if (key !== undefined && this.#byKey.get(key) === running) this.#byKey.delete(key);
          running.stop.abort(signal.reason);
        }
        reject(abortError(signal));
      };
      signal.addEventListener("abort", onAbort, { once: true });
      running.result.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
    });
  }
}

const queues = new WeakMap<FileStore, CommandQueue>();

/** The one queue of the store. */
export function commandQueueOf(store: FileStore): CommandQueue {
  const queue = queues.get(store) ?? new CommandQueue();
  queues.set(store, queue);
  return queue;
}

function ignore(): void {}
