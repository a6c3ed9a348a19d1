/** The engine in its real object: real SQLite, real alarms, real eviction. */
import { abortAllDurableObjects, env, runDurableObjectAlarm, runInDurableObject, SELF } from "cloudflare:test";
import { describe, expect, it, vi } from "vitest";
import type { WireSnapshot } from "../../durable-objects/protocol/wire.ts";

const BASE = "http://127.0.0.1/agents/coder";

interface TestBindings {
  CONVERSATION: DurableObjectNamespace;
}

function objectOf(id: string): DurableObjectStub {
  return (env as unknown as TestBindings).CONVERSATION.getByName(`coder/${id}`);
}

async function post(id: string, body: string): Promise<string> {
  const answer = await SELF.fetch(`${BASE}/${id}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ kind: "user", body }),
  });
  expect(answer.status).toBe(202);
  return ((await answer.json()) as { submissionId: string }).submissionId;
}

async function history(id: string): Promise<WireSnapshot> {
  return (await SELF.fetch(`${BASE}/${id}`)).json();
}

async function settled(id: string, submissionId: string): Promise<WireSnapshot> {
  for (;;) {
    const snapshot = await history(id);
    if (snapshot.settlements.some((settlement) => settlement.submissionId === submissionId)) return snapshot;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** Waits until the tool's call is on record. */
async function started(id: string, toolName: string): Promise<void> {
  for (;;) {
    const { messages } = await history(id);
    const parts = messages.flatMap((message) => message.parts);
    if (parts.some((part) => part.type === "dynamic-tool" && part.toolName === toolName)) return;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

function textOf(snapshot: WireSnapshot): string {
  return snapshot.messages
    .filter((message) => message.role === "assistant")
    .flatMap((message) => message.parts)
    .map((part) => (part.type === "text" ? part.text : ""))
    .join("");
}

describe("a conversation's object", () => {
  it("leaves nothing behind when a conversation that was never contacted is read", async () => {
    expect((await SELF.fetch(`${BASE}/never`)).status).toBe(404);
    await runInDurableObject(objectOf("never"), (_instance, state) => {
      const tables = state.storage.sql.exec("SELECT name FROM sqlite_master").toArray();
      expect(tables).toEqual([]);
    });
  });

  it("goes on from its records with nobody calling when it is lost in the middle of a command", {
    timeout: 30_000,
  }, async () => {
    const id = "lost";
    // The pool loads modules lazily through the object that asks first: the shell must be there before that one is lost.
    await settled("warm", await post("warm", "/bash true"));
    await post(id, "/write ledger.txt one\n/bash sleep 0.5; echo two >> ledger.txt; cat ledger.txt");
    await started(id, "bash");
    await runInDurableObject(objectOf(id), (_instance, state) => state.abort("crash")).catch(() => {});
    expect(await runDurableObjectAlarm(objectOf(id))).toBe(true);
    const [{ settlements }, text] = await (async () => {
      for (;;) {
        const snapshot = await history(id);
        if (snapshot.settlements.length > 0) return [snapshot, textOf(snapshot)] as const;
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    })();
    expect(settlements).toHaveLength(1);
    expect(settlements[0]?.outcome).toBe("completed");
    // The command ran once: a second run would have left a second line.
    expect(text.match(/two/g)).toHaveLength(1);
  });

  it("stores no alarm once nothing is due, so that an idle conversation costs nothing", async () => {
    const id = "idle";
    await settled(id, await post(id, "hello"));
    const alarmOf = () => runInDurableObject(objectOf(id), (_instance, state) => state.storage.getAlarm());
    // The settlement is visible a moment before the attempt that wrote it has ended.
    await vi.waitFor(async () => expect(await alarmOf()).toBeNull());
  });

  it("keeps files, history and the frozen prompt across the loss of every object", async () => {
    const id = "kept";
    await settled(id, await post(id, "/write a/b.txt kept"));
    const promptOf = () =>
      runInDurableObject(objectOf(id), (_instance, state) =>
        state.storage.sql.exec("SELECT epoch, sha256, text FROM prompt").toArray(),
      );
    const before = await promptOf();
    await abortAllDurableObjects();
    const snapshot = await settled(id, await post(id, "/read a/b.txt"));
    expect(textOf(snapshot)).toContain("kept");
    expect(snapshot.settlements).toHaveLength(2);
    expect(await promptOf()).toEqual(before);
    expect(before).toHaveLength(1);
  });

  it("carries a message of 3 MB whole through admission, record and history, in cells of at most 2 MB", async () => {
    const id = "large";
    const body = `${"x".repeat(3_000_000)}é`;
    const snapshot = await settled(id, await post(id, body));
    expect(snapshot.messages[0]?.parts[0]).toEqual({ type: "text", text: body, state: "done" });
    await runInDurableObject(objectOf(id), (_instance, state) => {
      const cells = state.storage.sql
        .exec<{ size: number }>(
          "SELECT MAX(LENGTH(CAST(body AS BLOB))) AS size FROM record UNION SELECT MAX(LENGTH(CAST(text AS BLOB))) FROM spill",
        )
        .toArray();
      for (const { size } of cells) expect(size).toBeLessThan(2_000_000);
    });
  });
});
