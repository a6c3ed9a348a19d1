/**
 * `npm run start:local`: the process behind `SANDBOX=local`, under the project's Node.
 *
 * Unless port and token were given from outside, it leaves the settings the Worker needs in `.wrangler/local.env` (mode
 * 0600), where `npm start` with SANDBOX=local finds them. Commands it started live on when it ends, and are found again.
 */
import fs from "node:fs";
import path from "node:path";
import { ensureInstalled, projectRoot } from "./install.mjs";
import { LOCAL_SETTINGS_FILE } from "./local-settings.mjs";
import { spawnScript } from "./spawn-script.mjs";

function main() {
  ensureInstalled();
  const { BERTH_LOCAL_PORT, BERTH_LOCAL_TOKEN } = process.env;
  const settingsFile = path.join(projectRoot, LOCAL_SETTINGS_FILE);
  fs.mkdirSync(path.dirname(settingsFile), { recursive: true });
  const child = spawnScript(
    "containers/local/local-process.ts",
    BERTH_LOCAL_PORT && BERTH_LOCAL_TOKEN ? [] : [settingsFile],
    { env: { ...process.env, NODE_OPTIONS: "" } },
  );
  for (const signal of /** @type {const} */ (["SIGINT", "SIGTERM", "SIGHUP"])) {
    process.on(signal, () => child.kill(signal));
  }
  child.once("exit", (code) => {
    process.exitCode = code ?? 0;
  });
}

try {
  main();
} catch (error) {
  console.error(`berth: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
}
