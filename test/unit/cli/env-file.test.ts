/** What the env file holds is what the Worker gets, by wrangler's own reading of it. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { unstable_getVarsForDev } from "wrangler";
import { parseEnvFile, renderEnvFile } from "../../../worker/cli/env-file.mjs";

const folder = mkdtempSync(path.join(tmpdir(), "berth-env-"));
afterAll(() => rmSync(folder, { recursive: true }));

function readAsWrangler(text: string): Record<string, unknown> {
  const file = path.join(folder, "settings.env");
  writeFileSync(file, text);
  const bindings = unstable_getVarsForDev(path.join(folder, "wrangler.toml"), [file], {}, undefined, true);
  return Object.fromEntries(Object.entries(bindings).map(([name, binding]) => [name, binding.value]));
}

describe("the env file", () => {
  it("gives wrangler every value back exactly, whatever it holds", () => {
    const values = {
      PLAIN: "scripted/demo",
      EMPTY: "",
      SPACES: "  two before, one after ",
      HASH: "a#b # c",
      SINGLE: "it's",
      DOUBLE: '{"tokens": 5, "note": "\\n is two characters"}',
      BOTH: `it's "quoted"`,
      BACKTICK: "`cmd` and 'x'",
      ALL: "' \" `",
      DOLLARS: `\${PLAIN} $PLAIN \\$ $$ $1 \\\\`,
      LINES: "first\nKEY=value\n\nlast\n",
      CRLF: "first\r\nlast",
      EQUALS: "=a=b=",
      WIDE: "ключ 鍵 🔑",
    };
    expect(readAsWrangler(renderEnvFile(values))).toEqual(values);
  });

  it("refuses, by name, the one kind of value it cannot hold", () => {
    expect(() => renderEnvFile({ ODD: "' \" ` #" })).toThrow(/ODD/);
  });

  it("reads .dev.vars as wrangler does", () => {
    const text = `# comment\nA=1\nexport B = "x\\ny" # why\nC='a # b'\n\nD=\nE=two words # gone\r\nF: yaml`;
    writeFileSync(path.join(folder, ".dev.vars"), text);
    const bindings = unstable_getVarsForDev(path.join(folder, "wrangler.toml"), undefined, {}, undefined, true);
    const read = Object.fromEntries(Object.entries(bindings).map(([name, binding]) => [name, binding.value]));
    expect(parseEnvFile(text)).toEqual(read);
    expect(read).toMatchObject({ A: "1", B: "x\ny", C: "a # b", E: "two words" });
  });
});
