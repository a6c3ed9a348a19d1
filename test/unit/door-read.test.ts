/** Reading a conversation. Source: contract RUNTIME 1.6 to 1.8. */
import { describe, expect, it } from "vitest";
import { errorIn, OFFSET, openDoor } from "./fixtures/door.ts";

const PATH = "/agents/coder/c1";
const NINE = "0000000000000000_0000000000000009";

describe("the snapshot", () => {
  it.each(["", "?view=history"])("is what %j gives", async (query) => {
    const answer = await openDoor().ask("GET", PATH + query);
    expect(answer.status).toBe(200);
    expect(await answer.text()).toBe('{"v":1}');
    expect(answer.headers.get("content-type")).toBe("application/json");
    expect(answer.headers.get("stream-next-offset")).toBe(OFFSET);
    expect(answer.headers.get("stream-up-to-date")).toBe("true");
    expect(answer.headers.get("cache-control")).toBe("no-store");
  });
});

describe("the updates", () => {
  it.each<[string, unknown]>([
    ["offset=-1", { after: 0, live: "none" }],
    [`offset=${NINE}`, { after: 9, live: "none" }],
    [`offset=${NINE}&live=long-poll`, { after: 9, live: "long-poll" }],
    ["offset=-1&live=sse", { after: 0, live: "sse" }],
  ])("%s is asked of the conversation", async (query, asked) => {
    const door = openDoor();
    expect((await door.ask("GET", `${PATH}?view=updates&${query}`)).status).toBe(200);
    expect(door.asked.updates).toEqual([asked]);
  });

  it("never say that the head was not reached", async () => {
    const answer = await openDoor().ask("GET", `${PATH}?view=updates&offset=-1`);
    expect(answer.headers.has("stream-up-to-date")).toBe(false);
    expect(answer.headers.get("stream-next-offset")).toBe(OFFSET);
  });

  it("carry no stream header on SSE", async () => {
    const answer = await openDoor().ask("GET", `${PATH}?view=updates&offset=-1&live=sse`);
    expect(answer.headers.get("content-type")).toBe("text/event-stream");
    expect([...answer.headers.keys()].filter((name) => name.startsWith("stream-"))).toEqual([]);
    expect(await answer.text()).toBe(": heartbeat\n\n");
  });

  it("go on from Last-Event-ID on SSE, whatever the offset says", async () => {
    const door = openDoor();
    const headers = { "last-event-id": NINE };
    await door.ask("GET", `${PATH}?view=updates&offset=-1&live=sse`, { headers });
    await door.ask("GET", `${PATH}?view=updates&offset=-1`, { headers });
    await door.ask("GET", `${PATH}?view=updates&offset=-1&live=sse`, { headers: { "last-event-id": "" } });
    expect(door.asked.updates.map((query) => query.after)).toEqual([9, 0, 0]);
  });

  it("beyond the head are gone, with the conversation's own words", async () => {
    const gone = {
      type: "stream_offset_gone",
      message: "Beyond.",
      meta: { offset: NINE, nextOffset: OFFSET },
    } as const;
    const door = openDoor({ rpc: { readUpdates: async () => ({ ok: false, error: gone }) } });
    const answer = await door.ask("GET", `${PATH}?view=updates&offset=${NINE}`);
    expect(answer.status).toBe(416);
    expect((await errorIn(answer)).meta).toEqual({ offset: NINE, nextOffset: OFFSET });
  });

  it("answer 499 to a client that went away while it waited", async () => {
    const gone = new AbortController();
    const door = openDoor({
      signal: gone.signal,
      rpc: {
        readUpdates: async () => {
          gone.abort();
          return { ok: true, value: { body: "[]", contentType: "application/json", offset: OFFSET } };
        },
      },
    });
    expect((await door.ask("GET", `${PATH}?view=updates&offset=-1&live=long-poll`)).status).toBe(499);
  });
});

describe("a read that contradicts itself", () => {
  it.each([
    "?view=updates",
    "?view=updates&offset=",
    "?view=updates&offset=5",
    "?view=updates&offset=-2",
    "?view=updates&offset=0000000000000001_0000000000000009",
    `?view=updates&offset=${NINE}%20`,
    "?view=updates&offset=-1&offset=-1",
    "?view=updates&offset=-1&tail=5",
    "?view=updates&offset=-1&live=",
    "?view=updates&offset=-1&live=websocket",
    "?view=updates&offset=-1&live=toString",
    "?view=updates&offset=-1&live=sse&live=sse",
    "?offset=-1",
    "?view=history&offset=-1",
    "?view=history&tail=5",
    "?view=history&live=sse",
    "?view=everything",
    "?view=",
    "?view=history&view=updates",
    "?view=updates&offset=-1&before=m1",
    "?view=updates&offset=-1&limit=1",
    "?limit=0",
    "?limit=201",
    "?limit=x",
    "?limit=1&limit=2",
    "?before=a&before=b",
    "?thread=t1",
  ])("%s is a 400 and asks nothing of the conversation", async (query) => {
    const door = openDoor({ rpc: { readHistory: () => Promise.reject(new Error("asked")) } });
    const answer = await door.ask("GET", PATH + query);
    expect(answer.status).toBe(400);
    expect((await errorIn(answer)).type).toBe("invalid_request");
    expect(door.asked.updates).toEqual([]);
  });

  it("is a 400 with a malformed Last-Event-ID", async () => {
    const answer = await openDoor().ask("GET", `${PATH}?view=updates&offset=-1&live=sse`, {
      headers: { "last-event-id": "x" },
    });
    expect(answer.status).toBe(400);
  });
});

describe("a conversation nobody has contacted", () => {
  it.each<[string, string]>([
    ["GET", PATH],
    ["GET", `${PATH}?view=updates&offset=-1&live=sse`],
    ["HEAD", PATH],
    ["POST", `${PATH}/abort`],
  ])("is not found by %s %s", async (method, path) => {
    const answer = async () =>
      ({ ok: false, error: { type: "stream_not_found", message: "Never contacted." } }) as const;
    const door = openDoor({ rpc: { readHistory: answer, readUpdates: answer, readHead: answer, abort: answer } });
    const response = await door.ask(method, path);
    expect(response.status).toBe(404);
    if (method === "HEAD") expect(await response.text()).toBe("");
    else expect((await errorIn(response)).type).toBe("stream_not_found");
  });
});
