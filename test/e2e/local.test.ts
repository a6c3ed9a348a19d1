/** `npm run start:local` beside `npm start` with SANDBOX=local: real commands, which outlive the Berth that asked for them. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { readToolResults, scriptToken } from "../model-server/script.ts";
import { findFreePort } from "../processes/berth-process.ts";
import { killTree } from "../processes/process-tree.ts";
import { freshId, openConversation, replyOf } from "../wire/conversation-client.ts";
import { type ScriptedBerth, startScriptedBerth } from "./scripted-berth.ts";

const ROOT = path.resolve(import.meta.dirname, "../..");
const TOKEN = "secret-of-the-process";
const isLinux = process.platform === "linux";

const folder = mkdtempSync(path.join(tmpdir(), "berth-of-local-"));
let scripted: ScriptedBerth;
let port = 0;
let local: ChildProcess | undefined;

async function startLocal(): Promise<void> {
  const { PATH = "", HOME = "" } = process.env;
  const settings = { BERTH_LOCAL_PORT: String(port), BERTH_LOCAL_TOKEN: TOKEN, BERTH_LOCAL_DIR: `${folder}/{id}` };
  local = spawn(process.execPath, [path.join(ROOT, "worker/cli/start-local.mjs")], {
    env: { PATH, HOME, CANARY: "canary-1", ...settings },
    stdio: ["ignore", "pipe", "inherit"],
  });
  let printed = "";
  local.stdout?.on("data", (chunk: Buffer) => {
    printed += chunk.toString();
  });
  await vi.waitUntil(() => printed.includes(`127.0.0.1:${port}`), { timeout: 30_000, interval: 25 });
}

beforeAll(async () => {
  if (!isLinux) return;
  port = await findFreePort();
  await startLocal();
  scripted = await startScriptedBerth({
    SANDBOX: "local",
    BERTH_LOCAL_URL: `http://127.0.0.1:${port}`,
    BERTH_LOCAL_TOKEN: TOKEN,
  });
});

afterAll(async () => {
  await scripted?.stop();
  if (local?.pid !== undefined) await killTree(local.pid);
  rmSync(folder, { recursive: true, force: true });
});

describe.skipIf(!isLinux)("a Berth over the local process", () => {
  it("finds the skills of the folder, tells the model, and logs those that are malformed", async () => {
    const { berth, model } = scripted;
    const id = freshId();
    for (const [name, text] of [
      ["tidy", "---\nname: tidy\ndescription: For old code: finishing work.\n---\nPART-1\n\n---\n\nPART-2\n"],
      ["bad", "no front matter"],
    ] as const) {
      mkdirSync(`${folder}/${id}/.agents/skills/${name}`, { recursive: true });
      writeFileSync(`${folder}/${id}/.agents/skills/${name}/SKILL.md`, text);
    }
    model.script("skills", [
      { calls: [{ id: "s", name: "activate_skill", arguments: { name: "tidy" } }] },
      { text: "done" },
    ]);
    const conversation = openConversation(berth.baseUrl, "coder", id);
    const { submissionId } = await conversation.send(`go ${scriptToken("skills")}`);
    expect((await conversation.settled(submissionId)).outcome).toBe("completed");
    const requests = model.requestsOf("skills");
    expect(JSON.stringify(requests[0]?.body.messages[0])).toContain("- **tidy** — For old code: finishing work.");
    const [activated] = readToolResults(requests.at(-1)?.body ?? { messages: [] });
    expect(activated?.text).toContain("PART-1\n\n---\n\nPART-2");
    expect(activated?.text).toContain(`- Base directory: ${folder}/${id}/.agents/skills/tidy`);
    await expect.poll(() => berth.log).toMatch(/skill_skipped.*bad\/SKILL\.md/);
  });

  it("works with the files and programs of this machine, and shows none of the process's own environment", async () => {
    const { berth, model } = scripted;
    const bash = (id: string, command: string) => ({ calls: [{ id, name: "bash", arguments: { command } }] });
    model.script("real", [
      { calls: [{ id: "w", name: "write", arguments: { path: "a/b.txt", content: "hello\n" } }] },
      bash("b", "pwd; cat a/b.txt; env; git --version"),
      { text: "done" },
    ]);
    const conversation = openConversation(berth.baseUrl, "coder");
    const { submissionId } = await conversation.send(`go ${scriptToken("real")}`);
    expect((await conversation.settled(submissionId)).outcome).toBe("completed");
    const [, ran] = readToolResults(model.requestsOf("real").at(-1)?.body ?? { messages: [] });
    expect(ran?.text).toMatch(new RegExp(`^${folder}/[^/]+\\nhello\\n`));
    expect(ran?.text).toContain("PATH=");
    expect(ran?.text).not.toMatch(/canary|secret-of-the-process|sk-no-secret/);
  });

  it("runs a command once, and to its end, although Berth is killed and the local process started anew meanwhile", async () => {
    const { berth, model } = scripted;
    const ledger = path.join(folder, "ledger");
    const command = `echo ran >> ${ledger}; sleep 3; echo finished`;
    model.script("crash", [{ calls: [{ id: "c", name: "bash", arguments: { command } }] }, { text: "done" }]);
    const conversation = openConversation(berth.baseUrl, "coder");
    const { submissionId } = await conversation.send(`go ${scriptToken("crash")}`);
    await vi.waitUntil(() => existsSync(ledger), { timeout: 20_000, interval: 25 });
    await berth.kill();
    const ended = local && once(local, "exit");
    local?.kill("SIGTERM");
    await ended;
    await startLocal();
    await berth.restart();
    expect((await conversation.settled(submissionId)).outcome).toBe("completed");
    expect(replyOf((await conversation.history()).messages, submissionId)).toBe("done");
    const [result] = readToolResults(model.requestsOf("crash").at(-1)?.body ?? { messages: [] });
    expect(result?.text).toBe("finished");
    expect(readFileSync(ledger, "utf8")).toBe("ran\n");
  });
});
