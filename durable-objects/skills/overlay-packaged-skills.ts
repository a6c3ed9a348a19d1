/**
 * A sandbox in which `readFile` also serves the files of packaged skills, so that every tool that reads text can.
 *
 * The paths are exact: another spelling of one (`//.flue/...`) is asked of the sandbox itself.
 *
 * Source: contract TOOLS 11.5.
 */
import type { Sandbox } from "../../containers/sandbox.ts";
import { shareSandboxIdentity } from "../../containers/sandbox-identity.ts";
import { PACKAGED_SKILLS_PREFIX, readPackagedFile } from "./packaged-path.ts";
import type { PackagedSkill } from "./skill.ts";

/** The same files and the same locks as `env`. */
export function overlayPackagedSkills(env: Sandbox, skills: readonly PackagedSkill[]): Sandbox {
  const overlaid: Sandbox = {
    ...env,
    readFile: async (path) =>
      path.startsWith(PACKAGED_SKILLS_PREFIX) ? readPackagedFile(skills, path) : env.readFile(path),
  };
  return shareSandboxIdentity(overlaid, env);
}
