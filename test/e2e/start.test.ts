/** `npm start` as a person meets it: the real script, the real wrangler, real signals. */
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { BerthProcess } from "../processes/berth-process.ts";
import { listTree } from "../processes/process-tree.ts";

const SECRET = "sk-must-not-be-seen";

let berth: BerthProcess;
beforeAll(async () => {
  berth = await BerthProcess.start({ OPENAI_API_KEY: SECRET, BERTH_MODEL: "anthropic/claude-sonnet-4-5" });
});
afterAll(() => berth.stop());

describe("the start script", () => {
  it("prints the address, what is not set, and three commands to try once the server answers", async () => {
    await expect.poll(() => berth.log).toContain(`Berth is ready at ${berth.baseUrl}`);
    await expect.poll(() => berth.log.match(/^ {2}curl .*$/gm)?.length).toBe(3);
    expect(berth.log).toContain("Not set yet: ANTHROPIC_API_KEY\n");
    // Open on this machine: the commands work as they are.
    expect(berth.log).not.toContain("authorization: Bearer");
  });

  it("puts no secret on a command line or into its own output", () => {
    const tree = listTree(process.pid);
    expect(tree.length).toBeGreaterThan(3);
    const shown = tree.map(({ pid }) => `/proc/${pid}/cmdline`).filter((file) => existsSync(file));
    for (const file of shown) expect(readFileSync(file, "utf8")).not.toContain(SECRET);
    expect(berth.log).not.toContain(SECRET);
  });

  it("says that a port is taken, and how to choose another, instead of starting beside", () => {
    const second = spawnSync(process.execPath, ["worker/cli/start.mjs", "--port", String(berth.port)], {
      encoding: "utf8",
    });
    expect(second.status).toBe(1);
    expect(second.stderr).toMatch(new RegExp(`Port ${berth.port} is taken.*--port ${berth.port + 1}`));
  });

  it("comes up again after a kill -9 of its whole tree, and leaves nothing behind on Ctrl-C", async () => {
    await berth.kill();
    await expect(fetch(`${berth.baseUrl}/health`)).rejects.toThrow();
    await berth.restart();
    expect((await fetch(`${berth.baseUrl}/health`)).status).toBe(200);
    await berth.interrupt();
    await expect(fetch(`${berth.baseUrl}/health`)).rejects.toThrow();
  });
});
