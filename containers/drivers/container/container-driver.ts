/**
 * The driver over a container object: file verbs as small programs, commands through berth-exec.
 *
 * Every call asks the namespace for the object anew: a stub that has seen its object fail stays broken.
 *
 * Source: contract TOOLS 12, 13.3, 15 (D9, D13, D14, D18).
 */
import type { ContainerNamespace, ContainerRpc } from "../../container-rpc.ts";
import type { SandboxDriver } from "../../driver.ts";
import { containerFileVerbs } from "./file-verbs.ts";

/** The image's unprivileged user; its home is the workspace. */
const USER = "berth";

export function containerDriver(containers: ContainerNamespace, name: string): SandboxDriver {
  const box = (): ContainerRpc => containers.getByName(name);
  return {
    async exec(command, { cwd }) {
      const { stdout, stderr, exitCode } = await box().run(["bash", "-c", command], {
        operation: "exec",
        user: USER,
        cwd,
        maxBytes: 1024 * 1024,
      });
      return { stdout: new TextDecoder().decode(stdout), stderr: new TextDecoder().decode(stderr), exitCode };
    },
    ...containerFileVerbs(({ operation, script, path, stdin, maxBytes }) =>
      box().run(["env", "LC_ALL=C", "bash", "-c", script, "bash", path], {
        operation,
        user: USER,
        cwd: "/",
        maxBytes,
        ...(stdin && { stdin }),
      }),
    ),
    generation: () => box().generation(),
  };
}
