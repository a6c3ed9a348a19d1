/**
 * The driver over a container object: commands through berth-exec, file verbs as small programs.
 *
 * Every call asks the namespace for the object anew: a stub that has seen its object fail stays broken.
 *
 * Source: contract TOOLS 12, 13.3, 15 (D9, D13, D14, D18, D24).
 */
import { EXEC_RETRIES, EXEC_RETRY_MS, MAX_EXEC_OUTPUT_BYTES } from "../../../durable-objects/protocol/limits.ts";
import type { ContainerNamespace, ContainerRpc } from "../../container-rpc.ts";
import type { DriverExecOptions, SandboxDriver } from "../../driver.ts";
import type { ExecResult } from "../../exec-result.ts";
import {
  abortArguments,
  commandBytes,
  EXEC_SCRIPT_PATH,
  EXEC_STATE_FOLDER,
  type ExecRequest,
  execArguments,
  executionId,
  parseExecAnswer,
  refuseCommand,
  resultOf,
} from "../../exec-script.ts";
import { IMAGE_USER, userEnvironment } from "../../sandbox-user.ts";
import { containerFileVerbs } from "./file-verbs.ts";

const MAX_HEADER_BYTES = 1024;

/** The object was moved or restarted, not its container: what is keyed may be asked again. */
function isObjectReset(error: unknown): boolean {
  if (!(error instanceof Error) || "type" in error) return false;
  return ("retryable" in error && error.retryable === true) || "durableObjectReset" in error;
}

export function containerDriver(containers: ContainerNamespace, name: string): SandboxDriver {
  const box = (): ContainerRpc => containers.getByName(name);

  async function runOnce(request: ExecRequest, stdin: Uint8Array): Promise<ExecResult> {
    const { stdout, stderr, exitCode } = await box().run([EXEC_SCRIPT_PATH, ...execArguments(request)], {
      operation: "exec",
      cwd: "/",
      stdin,
      maxBytes: MAX_EXEC_OUTPUT_BYTES + MAX_HEADER_BYTES,
    });
    if (exitCode !== 0) throw new Error(`The sandbox cannot run commands: ${new TextDecoder().decode(stderr).trim()}`);
    return resultOf(parseExecAnswer(stdout));
  }

  async function exec(command: string, options: DriverExecOptions): Promise<ExecResult> {
    const refused = refuseCommand(command);
    if (refused) return refused;
    const { cwd, env, timeoutMs, signal, key } = options;
    const id = key === undefined ? crypto.randomUUID() : executionId(name, key);
    const once = key === undefined;
    const request = {
      ...{ stateFolder: EXEC_STATE_FOLDER, id, command, cwd, timeoutMs, once },
      ...{ user: IMAGE_USER.name, env: { ...userEnvironment(IMAGE_USER), ...env } },
    };
    const stdin = commandBytes(command);
    // The command's own call answers once it is gone; a machine that cannot be told to end it has ended itself.
    const abort = () => {
      const argv = [EXEC_SCRIPT_PATH, ...abortArguments(request)];
      box()
        .run(argv, { operation: "exec", cwd: "/", maxBytes: MAX_HEADER_BYTES })
        .catch(() => {});
    };
    signal?.addEventListener("abort", abort, { once: true });
    try {
      for (let retry = 0; ; retry++) {
        try {
          return await runOnce(request, stdin);
        } catch (error) {
          if (once || retry >= EXEC_RETRIES || !isObjectReset(error)) throw error;
          await new Promise((resolve) => setTimeout(resolve, EXEC_RETRY_MS));
        }
      }
    } finally {
      signal?.removeEventListener("abort", abort);
    }
  }

  return {
    exec,
    ...containerFileVerbs(({ operation, script, path, stdin, maxBytes }) =>
      box().run(["env", "LC_ALL=C", "bash", "--norc", "-c", script, "bash", path], {
        operation,
        user: IMAGE_USER.name,
        cwd: "/",
        maxBytes,
        ...(stdin && { stdin }),
      }),
    ),
    generation: () => box().generation(),
  };
}
