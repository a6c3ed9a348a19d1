/**
 * Odd file names and patterns over every driver that can hold them: nothing escapes the shell or the workspace, and what
 * was written is found again.
 *
 * A canary file stands beside the workspace's folder under test; each name is tried as a path, as a pattern, as a text
 * to search for and as a word of a command.
 *
 * Source: contract TOOLS 8, 9, D3, D15.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { shellQuote } from "../../containers/shell-quote.ts";
import {
  createBashTool,
  createEditTool,
  createGlobTool,
  createGrepTool,
  createReadTool,
  createWriteTool,
} from "../../durable-objects/tools/index.ts";
import { showPath } from "../../durable-objects/tools/search-pipeline.ts";
import { seededRandom } from "../sim/random.ts";
import type { OpenSandbox } from "./drivers/contract-driver.ts";
import { contractDrivers } from "./drivers/index.ts";

/** Real programs are started about thirty times a name, and a busy machine takes its time for each. */
const ROUNDS = { emulated: 40, real: 5 };
const TIMEOUT_MS = 60_000;
const PIECES = [
  ..."ab -_.'\"`$;&|<>()[]{}*?!#~^=+,:@%\\\n\t",
  ...[
    "$(touch pwned)",
    "`touch pwned`",
    "'; touch pwned; '",
    '"; touch pwned; "',
    "--",
    "-delete",
    "-exec",
    "..",
    "\\0",
  ],
  ...["é", "漢", "😀", "\u202e", "\u00a0", "$HOME", "%s", "\\n", "*.ts", "[a-z]", "&&touch pwned", "|touch pwned"],
];
const CANARY = "/workspace/canary.txt";

function oddNames(rounds: number): string[] {
  const random = seededRandom(20_260_822);
  const names = new Set<string>();
  while (names.size < rounds) {
    let name = "";
    for (let length = 1 + random.below(6); length > 0; length -= 1) name += random.pick(PIECES);
    if (name !== "." && name !== ".." && !name.includes("/")) names.add(name);
  }
  return [...names];
}

type Execute = { execute(id: string, params: object): Promise<{ content: { type: string; text?: string }[] }> };

/** An id is the key of one execution for ever. */
let calls = 0;

async function textOf(tool: unknown, params: object): Promise<string> {
  try {
    calls += 1;
    return (await (tool as Execute).execute(`c${calls}`, params)).content[0]?.text ?? "";
  } catch (error) {
    return `threw ${(error as Error).message}`;
  }
}

/** The name as a `find -name` pattern that only it matches. */
const literally = (name: string) => name.replace(/[*?[\]\\]/g, "\\$&");

describe.each([...contractDrivers])("odd names over $name", (driver) => {
  let open: OpenSandbox;
  beforeAll(async () => {
    open = await driver.open({ cwd: "/workspace", ripgrep: true });
    await open.putFile(CANARY, Buffer.from("alive"));
    await open.putFile("/workspace/in/plain.txt", Buffer.from("plain"));
  });
  afterAll(() => open.close());

  const rounds = driver.backends === "own" ? ROUNDS.emulated : ROUNDS.real;
  it.each(oddNames(rounds).map((name) => [JSON.stringify(name), name]))(
    "keeps %s within its folder",
    async (_shown, name) => {
      const { sandbox } = open;
      const path = `in/${name}`;
      const text = `needle ${name} end`;
      expect(await textOf(createWriteTool(sandbox), { path, content: text })).toMatch(/^Successfully wrote/);
      expect(await textOf(createReadTool(sandbox), { path })).toBe(text);
      expect(await textOf(createEditTool(sandbox), { path, oldText: "needle", newText: "$&thread" })).toMatch(
        /^Successfully edited/,
      );
      expect(Buffer.from((await open.bytesOf(`/workspace/${path}`)) ?? []).toString()).toBe(`$&thread ${name} end`);

      expect(await textOf(createGlobTool(sandbox), { pattern: literally(name), path: "in" })).toBe(showPath(path));
      const search = { pattern: "thread", literal: true, path };
      const [firstLine] = `$&thread ${name} end`.split("\n");
      expect((await textOf(createGrepTool(sandbox), search)).split("\n")[0]).toBe(`${showPath(path)}:1:${firstLine}`);
      // As text to look for, as a glob to look in, and as a place to look: whatever they find, nothing runs.
      const [word = ""] = name.split("\n");
      if (word !== "") {
        const found = await textOf(createGrepTool(sandbox), { pattern: word, literal: true, path: "in" });
        expect(found).toContain(word);
      }
      await textOf(createGrepTool(sandbox), { pattern: name, path: "in", include: name });
      await textOf(createGlobTool(sandbox), { pattern: name, path: name });
      await textOf(createGrepTool(sandbox), { pattern: "x", path: name });

      const shown = await textOf(createBashTool(sandbox), { command: `cat -- ${shellQuote(path)} | head -n 1` });
      expect(shown).toContain(firstLine?.trimEnd());
      await sandbox.rm(path);
      expect(await sandbox.readdir("in")).toEqual(["plain.txt"]);
      expect((await sandbox.readdir("/workspace")).sort()).toEqual(["canary.txt", "in"]);
      expect(await sandbox.readFile(CANARY)).toBe("alive");
    },
    TIMEOUT_MS,
  );
});
