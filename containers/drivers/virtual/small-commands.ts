/**
 * Small programs that scripts expect and just-bash lacks: what they say is true of this shell, or they fail.
 *
 * A pipe is filled before it is read, so `yes` ends by itself, with a word about it.
 */
import type { CommandContext, CustomCommand, defineCommand } from "just-bash";
import type { ExecResult } from "../../sandbox.ts";

const MAX_YES_UNITS = 1024 * 1024;
const TEMPLATE = "tmp.XXXXXXXXXX";

export function smallCommands(define: typeof defineCommand): CustomCommand[] {
  return [
    define("id", async (args) => id(args)),
    define("uname", async (args) => uname(args)),
    define("mktemp", mktemp),
    define("yes", async (args) => yes(args)),
  ];
}

const print = (stdout: string): ExecResult => ({ stdout, stderr: "", exitCode: 0 });
const fail = (stderr: string): ExecResult => ({ stdout: "", stderr: `${stderr}\n`, exitCode: 1 });

/** There is one user, and permissions do not bind it. */
function id(args: readonly string[]): ExecResult {
  const flags = args.join(" ");
  if (flags === "") return print("uid=1000(user) gid=1000(user) groups=1000(user)\n");
  if (/^-[ugG]$/.test(flags)) return print("1000\n");
  if (/^-(?:[ugG]n|n[ugG])$|^-[ugG] -n$|^-n -[ugG]$/.test(flags)) return print("user\n");
  return fail(`id: unsupported arguments: ${flags}`);
}

const SYSTEM = { s: "Linux", n: "virtual", r: "0", v: "just-bash", m: "wasm", o: "GNU/Linux" };

function uname(args: readonly string[]): ExecResult {
  const asked = args.length === 0 ? "s" : args.map((arg) => arg.replace(/^-/, "")).join("");
  if (args.some((arg) => !/^-[asnrvmo]+$/.test(arg))) return fail(`uname: unsupported arguments: ${args.join(" ")}`);
  const shown = Object.entries(SYSTEM).filter(([letter]) => asked.includes("a") || asked.includes(letter));
  return print(`${shown.map(([, value]) => value).join(" ")}\n`);
}

async function mktemp(args: string[], { fs, cwd, env }: CommandContext): Promise<ExecResult> {
  let isDirectory = false;
  let parent: string | undefined;
  let template: string | undefined;
  for (let at = 0; at < args.length; at += 1) {
    const arg = args[at] ?? "";
    if (arg === "-d") isDirectory = true;
    else if (arg === "-p") parent = args[++at];
    else if (arg === "-t") parent ??= env.get("TMPDIR") ?? "/tmp";
    else if (arg.startsWith("-") || template !== undefined)
      return fail(`mktemp: unsupported arguments: ${args.join(" ")}`);
    else template = arg;
  }
  const folder = parent ?? (template === undefined ? (env.get("TMPDIR") ?? "/tmp") : undefined);
  const pattern = template ?? TEMPLATE;
  if (!/X{3}/.test(pattern)) return fail(`mktemp: too few X's in template '${pattern}'`);
  const name = pattern.replace(/X+(?=[^X]*$)/, (run) => randomLetters(run.length));
  const shown = folder === undefined ? name : `${folder}/${name}`;
  const path = fs.resolvePath(cwd, shown);
  try {
    if (folder === "/tmp") await fs.mkdir(folder, { recursive: true });
    if (isDirectory) await fs.mkdir(path);
    else await fs.writeFile(path, "");
  } catch {
    return fail(`mktemp: failed to create ${isDirectory ? "directory" : "file"} via template '${pattern}'`);
  }
  return print(`${shown}\n`);
}

function randomLetters(length: number): string {
  const letters = "abcdefghijklmnopqrstuvwxyz0123456789";
  return Array.from(crypto.getRandomValues(new Uint8Array(length)), (byte) => letters.charAt(byte % 36)).join("");
}

function yes(args: readonly string[]): ExecResult {
  const line = `${args.length === 0 ? "y" : args.join(" ")}\n`;
  const stdout = line.repeat(Math.max(1, Math.floor(MAX_YES_UNITS / line.length)));
  return { stdout, stderr: "yes: stopped: this shell fills a pipe before it is read\n", exitCode: 1 };
}
