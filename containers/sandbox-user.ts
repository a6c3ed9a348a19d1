/**
 * The unprivileged user of a machine that tool calls run as, where what runs them is root.
 *
 * The images in `image/` have `IMAGE_USER`; a machine's own programs (the SDK's server, berth-exec) stay root, with their
 * state out of its reach.
 */

export interface SandboxUser {
  /** As the machine knows it. */
  name: string;
  /** HOME of its commands. */
  home: string;
}

/** Whom the images create. */
export const IMAGE_USER: SandboxUser = { name: "berth", home: "/workspace" };

/** What a login would set: root's own environment is not the user's. */
export function userEnvironment({ name, home }: SandboxUser): Record<string, string> {
  return { HOME: home, USER: name, LOGNAME: name, SHELL: "/bin/bash" };
}
