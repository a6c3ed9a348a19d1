/**
 * Where `npm run start:local` leaves what `npm start` needs to find it, and how that is taken up.
 */
import fs from "node:fs";
import path from "node:path";
import { parseEnvFile } from "./env-file.mjs";

/** From the project's root. */
export const LOCAL_SETTINGS_FILE = ".wrangler/local.env";

/**
 * With `SANDBOX=local` and no address of its own: the one of the local process that runs for this checkout.
 *
 * @param {Record<string, string>} settings @param {string} root @returns {Record<string, string>}
 */
export function withLocalSettings(settings, root) {
  if (settings.SANDBOX !== "local" || settings.BERTH_LOCAL_URL) return settings;
  try {
    return { ...settings, ...parseEnvFile(fs.readFileSync(path.join(root, LOCAL_SETTINGS_FILE), "utf8")) };
  } catch {
    // None runs: the first command says so.
    return settings;
  }
}
