/** Handing a message in. Source: contract RUNTIME 1.3, 1.4, 1.12 (body cap); cases http-01. */
import { describe, expect, it } from "vitest";
import { RESERVED_SIGNAL_TYPES } from "../../durable-objects/protocol/submission.ts";
import { errorIn, OFFSET, ORIGIN, openDoor } from "./fixtures/door.ts";

const PATH = "/agents/coder/c1";
const JSON_TYPE = { "content-type": "application/json" };
const MIB = 1024 * 1024;

describe("an admitted message", () => {
  it("is answered with its receipt, mirrored in headers", async () => {
    const answer = await openDoor().post(`${PATH}?x=1`, { kind: "user", body: "hi" });
    expect(answer.status).toBe(202);
    expect(await answer.json()).toEqual({
      streamUrl: `${ORIGIN}${PATH}`,
      offset: OFFSET,
      submissionId: "sub_1",
      uid: "inst_1",
    });
    expect(answer.headers.get("location")).toBe(`${ORIGIN}${PATH}`);
    expect(answer.headers.get("stream-next-offset")).toBe(OFFSET);
  });

  it("keeps the address as it was written in streamUrl", async () => {
    const answer = await openDoor().post("/agents/coder/a%2Fb%20c", { kind: "user", body: "hi" });
    expect(answer.headers.get("location")).toBe(`${ORIGIN}/agents/coder/a%2Fb%20c`);
  });

  it("reaches the conversation as it was sent", async () => {
    const door = openDoor();
    const signal = { kind: "signal", type: "ci.done", body: "<ok>", attributes: { branch: "main" }, tagName: "ci" };
    await door.post(PATH, { kind: "user", body: "a\n🙂" });
    await door.post(PATH, signal);
    expect(door.asked.admissions.map((admission) => admission.message)).toEqual([
      { kind: "user", body: "a\n🙂" },
      signal,
    ]);
  });

  it("may hold 3 MB of text", async () => {
    const door = openDoor();
    const body = "x".repeat(3_000_000);
    expect((await door.post(PATH, { kind: "user", body })).status).toBe(202);
    // Large ones go as bytes: a string of RPC may count two bytes a unit, and 32 MiB is all it carries.
    const [sent] = door.asked.admissions as unknown as [Uint8Array];
    expect(JSON.parse(new TextDecoder().decode(sent)).message).toEqual({ kind: "user", body });
  });

  it.each(["application/json; charset=utf-8", "Application/JSON", "application/json ;x=y"])(
    "may come as %s",
    async (type) => {
      expect((await openDoor().post(PATH, { kind: "user", body: "hi" }, { "content-type": type })).status).toBe(202);
    },
  );

  it("is found missing where the conversation refuses it, with the conversation's own words", async () => {
    const full = {
      type: "too_many_requests",
      message: "Too many.",
      details: "Wait.",
      meta: { unsettled: 1000 },
    } as const;
    const door = openDoor({ rpc: { admit: async () => ({ ok: false, error: full }) } });
    const answer = await door.post(PATH, { kind: "user", body: "hi" });
    expect(answer.status).toBe(429);
    expect(answer.headers.get("retry-after")).toBe("1");
    expect(await errorIn(answer)).toEqual(full);
  });
});

describe("a body that is no JSON", () => {
  it.each(["", '{"kind":', "hi", "{'kind':'user'}", `{"a":1}{"b":2}`, "[".repeat(200_000)])(
    "%.20j is invalid_json",
    async (body) => {
      const answer = await openDoor().ask("POST", PATH, { body, headers: JSON_TYPE });
      expect(answer.status).toBe(400);
      expect((await errorIn(answer)).type).toBe("invalid_json");
    },
  );

  it("is invalid_json without any body and type", async () => {
    expect((await errorIn(await openDoor().ask("POST", PATH))).type).toBe("invalid_json");
  });

  it("is invalid_json when it is announced as empty, whatever its type", async () => {
    const headers = { "content-type": "text/plain", "content-length": "0" };
    expect((await errorIn(await openDoor().ask("POST", PATH, { body: "", headers }))).type).toBe("invalid_json");
  });

  it("is invalid_json when its bytes are no UTF-8", async () => {
    const body = Uint8Array.of(0x7b, 0x22, 0xff, 0x22, 0x7d);
    expect((await errorIn(await openDoor().ask("POST", PATH, { body, headers: JSON_TYPE }))).type).toBe("invalid_json");
  });

  it.each(["text/plain", "application/x-www-form-urlencoded", "application/jsonx", "text/json"])(
    "is refused as %s",
    async (type) => {
      const answer = await openDoor().post(PATH, { kind: "user", body: "hi" }, { "content-type": type });
      expect(answer.status).toBe(415);
      expect((await errorIn(answer)).type).toBe("unsupported_media_type");
    },
  );
});

describe("a body of a wrong shape", () => {
  it.each<[unknown, string]>([
    [null, "JSON object"],
    [[], "JSON object"],
    ["hi", "JSON object"],
    [7, "JSON object"],
    [{}, "kind"],
    [{ kind: "nope", body: "x" }, "kind"],
    [{ kind: "user" }, "body"],
    [{ kind: "user", body: 7 }, "body"],
    [{ kind: "user", body: null }, "body"],
    [{ kind: "user", body: "x", mood: "good" }, '"mood"'],
    [{ kind: "user", body: "x", type: "t" }, '"type"'],
    [{ kind: "user", body: "x", attachments: {} }, "attachments"],
    [
      { kind: "user", body: "x", attachments: [{ type: "file", data: "AA==", mimeType: "image/png" }] },
      "attachments.0.type",
    ],
    [{ kind: "user", body: "x", attachments: [{ type: "image", data: "AA==", mimeType: "text/html" }] }, "mimeType"],
    [
      { kind: "user", body: "x", attachments: [{ type: "image", data: "not base64", mimeType: "image/png" }] },
      "base64",
    ],
    [{ kind: "user", body: "x", attachments: [{ type: "image", data: "", mimeType: "image/png" }] }, "base64"],
    [
      { kind: "user", body: "x", attachments: [{ type: "image", data: "AA==", mimeType: "image/png", url: "x" }] },
      "url",
    ],
    [{ kind: "signal", type: "t", body: "x", attachments: [] }, '"attachments"'],
    [{ kind: "user", body: "x", uid: 7 }, "uid"],
    [{ kind: "user", body: "x", uid: "inst_1", initialData: 1 }, "initialData"],
    [{ kind: "user", body: "x", idempotencyKey: "" }, "idempotencyKey"],
    [{ kind: "user", body: "x", idempotencyKey: "k".repeat(257) }, "idempotencyKey"],
    [{ kind: "user", body: "x", idempotencyKey: "schedule:1:2" }, "reserved"],
    [{ kind: "signal", body: "x" }, "type"],
    [{ kind: "signal", type: "", body: "x" }, "type"],
    [{ kind: "signal", type: "  ", body: "x" }, "type"],
    [{ kind: "signal", type: "t", body: "x", tagName: "a b" }, "tagName"],
    [{ kind: "signal", type: "t", body: "x", tagName: "1a" }, "tagName"],
    [{ kind: "signal", type: "t", body: "x", tagName: "a\n" }, "tagName"],
    [{ kind: "signal", type: "t", body: "x", attributes: { a: 1 } }, "attributes.a"],
    [{ kind: "signal", type: "t", body: "x", attributes: { 'a" b="': "1" } }, "attributes"],
    [{ kind: "signal", type: "t", body: "x", attributes: [] }, "attributes"],
    ...RESERVED_SIGNAL_TYPES.map((type): [unknown, string] => [{ kind: "signal", type, body: "x" }, "reserved"]),
  ])("%j is invalid_request that names %s, and nothing is admitted", async (body, named) => {
    const door = openDoor();
    const answer = await door.post(PATH, body);
    expect(answer.status).toBe(400);
    const error = await errorIn(answer);
    expect(error.type).toBe("invalid_request");
    expect(error.message).toContain(named);
    expect(door.asked.admissions).toEqual([]);
  });

  it("names a __proto__ key instead of swallowing it", async () => {
    const answer = await openDoor().ask("POST", PATH, {
      body: '{"kind":"user","body":"x","__proto__":{}}',
      headers: JSON_TYPE,
    });
    expect((await errorIn(answer)).message).toContain('"__proto__"');
  });

  it("is a 400, not a 500, however deep it is nested", async () => {
    const deep = "[".repeat(100_000) + "]".repeat(100_000);
    for (const body of [
      deep,
      `{"kind":"user","body":${deep}}`,
      `{"kind":"signal","type":"t","body":"x","attributes":{"a":${deep}}}`,
      `{"kind":"user","body":"x","initialData":${deep}}`,
    ]) {
      expect((await openDoor().ask("POST", PATH, { body, headers: JSON_TYPE })).status).toBe(400);
    }
  });
});

describe("a body above 20 MiB", () => {
  function chunked(bytes: number): { stream: ReadableStream<Uint8Array>; sent: () => number } {
    let sent = 0;
    const stream = new ReadableStream<Uint8Array>(
      {
        pull(controller) {
          if (sent >= bytes) return controller.close();
          sent += MIB;
          controller.enqueue(new Uint8Array(MIB).fill(0x20));
        },
      },
      { highWaterMark: 0 },
    );
    return { stream, sent: () => sent };
  }

  it("is refused by its announced length before a byte is read", async () => {
    const { stream, sent } = chunked(0);
    const headers = { ...JSON_TYPE, "content-length": String(20 * MIB + 1) };
    const answer = await openDoor().ask("POST", PATH, { body: stream, headers });
    expect(answer.status).toBe(413);
    expect(sent()).toBe(0);
  });

  it("is refused without an announced length too, and taken to its end, for a half-read request is torn down", async () => {
    const { stream, sent } = chunked(30 * MIB);
    const answer = await openDoor().ask("POST", PATH, { body: stream, headers: JSON_TYPE });
    expect(answer.status).toBe(413);
    expect((await errorIn(answer)).type).toBe("payload_too_large");
    expect(sent()).toBe(30 * MIB);
  });

  it("is not read for ever", async () => {
    const { stream, sent } = chunked(1000 * MIB);
    const answer = await openDoor().ask("POST", PATH, { body: stream, headers: JSON_TYPE });
    expect(answer.status).toBe(413);
    expect(sent()).toBeLessThan(130 * MIB);
  });

  it("is refused by its type first, without being read", async () => {
    const { stream, sent } = chunked(200 * MIB);
    const answer = await openDoor().ask("POST", PATH, { body: stream, headers: { "content-type": "text/plain" } });
    expect(answer.status).toBe(415);
    expect(sent()).toBe(0);
  });
});

describe("a caller's trace", () => {
  const parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

  async function traceOf(headers: Record<string, string>): Promise<unknown> {
    const door = openDoor();
    expect((await door.post(PATH, { kind: "user", body: "x" }, headers)).status).toBe(202);
    return door.asked.admissions[0]?.trace;
  }

  it("is kept with the submission", async () => {
    expect(await traceOf({ traceparent: parent, tracestate: "vendor=a1,other@sys=b 2" })).toEqual({
      traceparent: parent,
      tracestate: "vendor=a1,other@sys=b 2",
    });
  });

  it.each([
    "nonsense",
    "00-00000000000000000000000000000000-b7ad6b7169203331-01",
    "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
    "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
    "00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01",
    `${parent}-more`,
  ])("is left out when it is %s, and the message is admitted", async (traceparent) => {
    expect(await traceOf({ traceparent, tracestate: "a=b" })).toBeUndefined();
  });

  it.each(["A=b", "novalue", `a=${"x".repeat(600)}`, "=b"])(
    "loses a malformed state (%.12s) and keeps its parent",
    async (tracestate) => {
      expect(await traceOf({ traceparent: parent, tracestate })).toEqual({ traceparent: parent });
    },
  );
});
