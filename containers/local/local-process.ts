/**
 * The process behind `local()`, started by `npm run start:local`: real bash and real files of this machine for a Berth
 * in development. Nothing is isolated.
 *
 * Takes BERTH_LOCAL_PORT (a free one), BERTH_LOCAL_TOKEN (random) and BERTH_LOCAL_DIR (the folder it was started in).
 * The file named as its argument gets the two settings the Worker needs, and goes with the process.
 */
import { randomUUID } from "node:crypto";
import { rmSync, writeFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { tmpdir, userInfo } from "node:os";
import path from "node:path";
import { baseEnvironment } from "./base-environment.ts";
import { createLocalCommands } from "./local-commands.ts";
import { createLocalServer } from "./local-server.ts";

const LOOPBACK = "127.0.0.1";

function parsePort(text: string): number {
  const port = Number(text);
  if (Number.isInteger(port) && port >= 0 && port < 65_536) return port;
  throw new Error("BERTH_LOCAL_PORT must be a number from 0 to 65535");
}

function main(settingsFile: string | undefined): void {
  if (process.platform !== "linux") throw new Error("the local sandbox needs Linux (on Windows: WSL)");
  const { BERTH_LOCAL_PORT, BERTH_LOCAL_TOKEN, BERTH_LOCAL_DIR } = process.env;
  const token = BERTH_LOCAL_TOKEN || `${randomUUID()}${randomUUID()}`;
  const folder = path.resolve(BERTH_LOCAL_DIR || process.env.INIT_CWD || process.cwd());
  const server = createLocalServer({
    token,
    folder,
    commands: createLocalCommands({
      script: path.join(import.meta.dirname, "../image/berth-exec"),
      stateFolder: path.join(tmpdir(), `berth-local-${userInfo().uid}`),
      environment: baseEnvironment(process.env),
    }),
  });
  server.once("error", (error) => {
    console.error(`berth: the local process cannot listen: ${error.message}`);
    process.exitCode = 1;
  });
  server.listen(parsePort(BERTH_LOCAL_PORT || "0"), LOOPBACK, () => {
    const { port } = server.address() as AddressInfo;
    const settings = [`BERTH_LOCAL_URL=http://${LOOPBACK}:${port}`, `BERTH_LOCAL_TOKEN=${token}`];
    if (settingsFile) writeFileSync(settingsFile, `${settings.join("\n")}\n`, { mode: 0o600 });
    const given = BERTH_LOCAL_PORT && BERTH_LOCAL_TOKEN;
    console.log(
      [
        `Local sandbox: commands and files of this machine, without isolation, in ${folder}`,
        ...(given ? [`It listens on ${LOOPBACK}:${port}.`] : ["It is for: SANDBOX=local npm start", ...settings]),
      ].join("\n"),
    );
  });
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.on(signal, () => {
      if (settingsFile) rmSync(settingsFile, { force: true });
      process.exit(0);
    });
  }
}

try {
  main(process.argv[2]);
} catch (error) {
  console.error(`berth: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
}
