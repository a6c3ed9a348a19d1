/** A container sandbox as a suite in Node sees it, through the bridge. */
import { randomUUID } from "node:crypto";
import { raceExecAbort } from "../../../containers/abort-race.ts";
import { resolvePath } from "../../../containers/paths.ts";
import type { ExecResult, Sandbox } from "../../../containers/sandbox.ts";
import { type BridgeCall, type BridgeError, decodeValue, encodeValue } from "./bridge-value.ts";

export interface BridgedSandbox {
  sandbox: Sandbox;
  name: string;
  /** Any verb of the bridge. */
  call(verb: string, ...args: unknown[]): Promise<unknown>;
}

export interface BridgeOptions {
  url: string;
  name?: string;
  cwd?: string;
  sleepAfterMs?: number;
}

export function bridgedSandbox({
  url,
  name = randomUUID(),
  cwd = "/workspace",
  ...rest
}: BridgeOptions): BridgedSandbox {
  async function send(call: Partial<BridgeCall> & { verb: string; args: unknown[] }): Promise<unknown> {
    const body = JSON.stringify(encodeValue({ sandbox: name, cwd, ...rest, ...call }));
    const response = await fetch(`${url}/${name}`, { method: "POST", body });
    const text = await response.text();
    if (!response.ok) throw new Error(`The bridge answered ${response.status}: ${text.slice(0, 300)}`);
    const answer = JSON.parse(text) as { value?: unknown; error?: BridgeError };
    if (answer.error) throw Object.assign(new Error(answer.error.message), answer.error);
    return decodeValue(answer.value);
  }
  const call = (verb: string, ...args: unknown[]) => send({ verb, args });
  const verbOf =
    (verb: string) =>
    (...args: unknown[]) =>
      call(verb, ...args) as Promise<never>;
  const sandbox: Sandbox = {
    exec: (command, { signal, ...options } = {}) => {
      const callId = randomUUID();
      return raceExecAbort({
        command,
        signal,
        onOrphanSettled: undefined,
        run() {
          signal?.addEventListener("abort", () => void call("abort", callId), { once: true });
          return send({ verb: "exec", args: [command, options], callId }) as Promise<ExecResult>;
        },
      });
    },
    readFile: verbOf("readFile"),
    readFileBuffer: verbOf("readFileBuffer"),
    writeFile: verbOf("writeFile"),
    stat: verbOf("stat"),
    readdir: verbOf("readdir"),
    exists: verbOf("exists"),
    mkdir: verbOf("mkdir"),
    rm: verbOf("rm"),
    realPath: verbOf("realPath"),
    generation: verbOf("generation"),
    cwd,
    resolvePath: (path) => resolvePath(cwd, path),
  };
  return { sandbox, name, call };
}
