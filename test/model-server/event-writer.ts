/**
 * Writes server-sent events, as oddly as the turn says: with other line ends, a byte at a time, with pings between.
 *
 * Owns what was not sent yet; `flush` resolves when it is out.
 */
import type { ServerResponse } from "node:http";
import type { ModelTurn, Pause } from "./script.ts";

const PING = ": ping\n\ndata:\n\n";

export interface EventWriter {
  /** @param name sent as the event's name where the protocol has names. */
  event(data: unknown, name?: string): void;
  /** Text as it is. */
  raw(text: string): void;
  pause(pause: Pause): Promise<void>;
  flush(): Promise<void>;
  readonly isGone: boolean;
}

/** Ends early when the caller is gone. */
export async function pauseFor(pause: Pause, response: ServerResponse): Promise<void> {
  if (response.destroyed) return;
  const { promise: gone, resolve } = Promise.withResolvers<void>();
  response.once("close", resolve);
  const timer = "waitMs" in pause ? setTimeout(resolve, pause.waitMs) : undefined;
  await Promise.race([gone, ...("gate" in pause ? [pause.gate] : [])]);
  clearTimeout(timer);
  response.off("close", resolve);
}

export function createEventWriter(response: ServerResponse, { wire = {} }: ModelTurn): EventWriter {
  const { lineEnd = "\n", isBytewise = false, hasPings = false } = wire;
  let sent: Promise<unknown> = Promise.resolve();

  const write = (bytes: Uint8Array): Promise<void> =>
    new Promise((resolve) => {
      if (response.destroyed) resolve();
      else response.write(bytes, () => resolve());
    });

  async function send(bytes: Uint8Array): Promise<void> {
    const size = isBytewise ? 1 : bytes.length;
    for (let at = 0; at < bytes.length; at += size) await write(bytes.subarray(at, at + size));
  }

  function raw(text: string): void {
    const bytes = Buffer.from(text.replaceAll("\n", lineEnd), "utf8");
    sent = sent.then(() => send(bytes));
  }

  return {
    raw,
    event(data, name) {
      const head = name === undefined ? "" : `event: ${name}\n`;
      raw(`${hasPings ? PING : ""}${head}data: ${typeof data === "string" ? data : JSON.stringify(data)}\n\n`);
    },
    async pause(pause) {
      await sent;
      await pauseFor(pause, response);
    },
    flush: async () => void (await sent),
    get isGone() {
      return response.destroyed;
    },
  };
}
