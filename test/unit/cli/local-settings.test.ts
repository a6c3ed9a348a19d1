/** How `npm start` finds the local process. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { LOCAL_SETTINGS_FILE, withLocalSettings } from "../../../worker/cli/local-settings.mjs";

const root = mkdtempSync(path.join(tmpdir(), "berth-settings-"));
const file = path.join(root, LOCAL_SETTINGS_FILE);
const there = { BERTH_LOCAL_URL: "http://127.0.0.1:1234", BERTH_LOCAL_TOKEN: "t" };

afterAll(() => rmSync(root, { recursive: true, force: true }));

describe("the settings of the local process", () => {
  it("are taken up where the sandbox is local and none were given", () => {
    expect(withLocalSettings({ SANDBOX: "local" }, root)).toEqual({ SANDBOX: "local" });
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, "BERTH_LOCAL_URL=http://127.0.0.1:1234\nBERTH_LOCAL_TOKEN=t\n");
    expect(withLocalSettings({ SANDBOX: "local" }, root)).toEqual({ SANDBOX: "local", ...there });
  });

  it("stay out of any other sandbox and behind those given from outside", () => {
    const given = { SANDBOX: "local", BERTH_LOCAL_URL: "http://127.0.0.1:9", BERTH_LOCAL_TOKEN: "mine" };
    expect(withLocalSettings(given, root)).toEqual(given);
    expect(withLocalSettings({ SANDBOX: "virtual" }, root)).toEqual({ SANDBOX: "virtual" });
  });
});
