import { describe, expect, it } from "vitest";
import { openDoor } from "./fixtures/door.ts";

const PATH = "/agents/coder/c1";

describe("how a message is sent", () => {
  const body = { kind: "user", body: "x" };

  it("hands condition, key, initial data and attachments on, apart from the message itself", async () => {
    const door = openDoor();
    const attachments = [{ type: "image", data: "AAAA", mimeType: "image/png", filename: "a.png" }];
    await door.post(PATH, { ...body, attachments, uid: null, idempotencyKey: "k", initialData: { a: 1 } });
    expect(door.asked.admissions).toEqual([
      {
        agent: "coder",
        id: "c1",
        message: { kind: "user", body: "x", attachments },
        uid: null,
        idempotencyKey: "k",
        initialData: { a: 1 },
      },
    ]);
  });

  it("takes the key from the header too, and refuses two that differ", async () => {
    const door = openDoor();
    await door.post(PATH, body, { "idempotency-key": "k" });
    expect(door.asked.admissions[0]?.idempotencyKey).toBe("k");
    expect((await door.post(PATH, { ...body, idempotencyKey: "k" }, { "idempotency-key": "k" })).status).toBe(202);
    const differs = await door.post(PATH, { ...body, idempotencyKey: "other" }, { "idempotency-key": "k" });
    expect(differs.status).toBe(400);
    expect((await door.post(PATH, body, { "idempotency-key": "schedule:x" })).status).toBe(400);
    expect(door.asked.admissions).toHaveLength(2);
  });

  it("answers with the settlement when it was waited for, and with the ordinary receipt when it took longer", async () => {
    const settled = { settlement: { submissionId: "sub_1", outcome: "completed" }, message: { id: "m" } };
    const asked: [string, number][] = [];
    const door = openDoor({
      rpc: {
        waitSettled(submissionId, ms) {
          asked.push([submissionId, ms]);
          return Promise.resolve({ ok: true, value: ms === 60_000 ? JSON.stringify(settled) : null });
        },
      },
    });
    const inTime = await door.post(`${PATH}?wait=60`, body);
    expect(inTime.status).toBe(200);
    expect(await inTime.json()).toMatchObject({ submissionId: "sub_1", ...settled });
    expect((await door.post(`${PATH}?wait=1`, body)).status).toBe(202);
    expect(asked).toEqual([
      ["sub_1", 60_000],
      ["sub_1", 1000],
    ]);
  });

  it.each(["0", "61", "1.5", "-1", "x", ""])("?wait=%s is a 400 and admits nothing", async (wait) => {
    const door = openDoor();
    expect((await door.post(`${PATH}?wait=${wait}`, body)).status).toBe(400);
    expect(door.asked.admissions).toEqual([]);
  });
});
