/**
 * The driver's own small programs, run as the user that commands run as: the SDK's calls know no user and act as root.
 *
 * A program is text of bash, and its path an argument of its own. Programs start in `/`, so that a workspace that was
 * removed hinders none of them, and speak in the C locale.
 *
 * Source: contract TOOLS 13.3.
 */
import { SANDBOX_HELPER_TIMEOUT_MS } from "../../../durable-objects/protocol/limits.ts";
import { EXIT_NO_USER } from "../../exec-script.ts";
import { nulByteError, readFileErrorCode } from "../../file-errors.ts";
import type { SandboxUser } from "../../sandbox-user.ts";
import { shellQuote } from "../../shell-quote.ts";
import type { GuardedCall } from "./guarded-calls.ts";

export interface UserProgram {
  /** The verb, as errors name it. */
  operation: string;
  /** `$1` is the path. */
  script: string;
  path: string;
  /** A line that prints what the program reads; it runs as the SDK's own user. */
  input?: string;
}

export interface ProgramAnswer {
  success: boolean;
  stdout: string;
  stderr: string;
}

export interface UserPrograms {
  /** Rejects where nothing could be run. */
  run(program: UserProgram): Promise<ProgramAnswer>;
  /** What it printed; rejects with what it said when it failed. */
  succeed(program: UserProgram): Promise<string>;
}

/** Without a user the programs run as the SDK's own. */
export function userPrograms(call: GuardedCall, user: SandboxUser | undefined): UserPrograms {
  async function run(program: UserProgram): Promise<ProgramAnswer> {
    if (program.path.includes("\0")) throw nulByteError(program.path);
    const line = renderLine(program, user);
    const answer = await call(program.operation, (stub) =>
      stub.exec(line, { cwd: "/", timeout: SANDBOX_HELPER_TIMEOUT_MS }),
    );
    const exitCode = answer.exitCode ?? (answer.success ? 0 : 1);
    if (user !== undefined && exitCode === EXIT_NO_USER) throw noSuchUser(user);
    return { success: exitCode === 0, stdout: answer.stdout ?? "", stderr: answer.stderr ?? "" };
  }

  return {
    run,
    async succeed(program) {
      const { success, stdout, stderr } = await run(program);
      if (!success) throw programFailure(program, stderr);
      return stdout;
    },
  };
}

function renderLine({ script, path, input }: UserProgram, user: SandboxUser | undefined): string {
  const program = `env LC_ALL=C bash --norc -c ${shellQuote(script)} bash ${shellQuote(path)}`;
  const asUser = user === undefined ? program : `{ ${becomeUser(user)} ${program}; }`;
  return input === undefined ? asUser : `set -o pipefail; ${input} | ${asUser}`;
}

/** The start of a command line, which the program's words follow. */
function becomeUser(user: SandboxUser): string {
  const name = shellQuote(user.name);
  return `group=$(id -g -- ${name}) || exit ${EXIT_NO_USER}; exec setpriv --reuid=${name} --regid="$group" --init-groups`;
}

/** As the contract words it, with Node's code where a system call failed. */
export function programFailure({ operation, path }: UserProgram, stderr: string): Error {
  const code = readFileErrorCode(stderr);
  return Object.assign(new Error(`${operation} failed for ${path}: ${stderr}`), code && { code });
}

export function noSuchUser({ name }: SandboxUser): Error {
  return new Error(
    `The sandbox's image has no user ${name}. Build it from containers/image/sandbox.Dockerfile and deploy again, or name a user it has: cloudflareSandbox(undefined, { user }).`,
  );
}
