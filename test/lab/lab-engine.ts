/** The lab's engine as a test handles it: which containers of a Worker run, and the end of one from outside. */
import { execFileSync } from "node:child_process";

function docker(...args: string[]): string {
  return execFileSync("docker", args, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
}

/** What a process must be given to find the engine. */
export function labSettings(): Record<string, string> {
  const names = ["DOCKER_HOST", "DOCKER_BUILDKIT", "WRANGLER_DOCKER_BIN", "MINIFLARE_CONTAINER_EGRESS_IMAGE"];
  return Object.fromEntries(names.flatMap((name) => (process.env[name] ? [[name, process.env[name]]] : [])));
}

/** Names of the running sandboxes of `[env.container]`. */
export function listSandboxes(): string[] {
  return docker("ps", "--format", "{{.Names}}", "--filter", "name=workerd-berth-container-ContainerSandbox")
    .split("\n")
    .filter((name) => name !== "" && !name.endsWith("-proxy"));
}

export function killSandbox(name: string): void {
  docker("kill", name);
}

export function removeSandboxes(names: readonly string[]): void {
  for (const name of names) docker("rm", "--force", name, `${name}-proxy`);
}
