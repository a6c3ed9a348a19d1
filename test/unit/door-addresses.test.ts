/** Which address is which conversation, and what is not there. Source: contract RUNTIME 1.1, 1.2, 1.6, 1.12. */
import { describe, expect, it } from "vitest";
import { errorIn, OFFSET, openDoor } from "./fixtures/door.ts";

const message = { kind: "user", body: "hi" };

describe("a conversation's address", () => {
  it.each<[string, string]>([
    ["/agents/coder/c1", "coder/c1"],
    ["/agents/coder/a%2Fb", "coder/a/b"],
    ["/agents/coder/%E4%BD%A0%E5%A5%BD", "coder/你好"],
    ["/agents/coder/e%CC%81", "coder/e\u0301"],
    ["/agents/coder/%C3%A9", "coder/é"],
    ["/agents/coder/100%25", "coder/100%"],
    ["/agents/coder/a%252Fb", "coder/a%2Fb"],
    ["/agents/coder/a+b", "coder/a+b"],
    ["/agents/coder/%20x%20", "coder/ x "],
    ["/agents/coder/C1", "coder/C1"],
    ["/agents/coder/abort", "coder/abort"],
    ["/agents/coder/a%3Fb%23c", "coder/a?b#c"],
    [`/agents/coder/${"x".repeat(256)}`, `coder/${"x".repeat(256)}`],
  ])("%s is the conversation %s, byte for byte", async (path, name) => {
    const door = openDoor();
    expect((await door.post(path, message)).status).toBe(202);
    expect(door.asked.conversations).toEqual([name]);
    expect(`${door.asked.admissions[0]?.agent}/${door.asked.admissions[0]?.id}`).toBe(name);
  });

  it.each([
    ["empty", "/agents/coder/"],
    ["blank", "/agents/coder/%20%20"],
    ["a control character", "/agents/coder/a%00b"],
    ["a newline", "/agents/coder/a%0Ab"],
    ["a C1 control character", "/agents/coder/a%C2%85b"],
    ["over 256 characters", `/agents/coder/${"x".repeat(257)}`],
    ["a lone percent sign", "/agents/coder/100%"],
    ["no UTF-8", "/agents/coder/%FF"],
    ["empty before abort", "/agents/coder//abort"],
  ])("is refused when the id is %s, on every method", async (_what, path) => {
    const door = openDoor();
    const answers = path.endsWith("/abort")
      ? [await door.ask("POST", path)]
      : [await door.post(path, message), await door.ask("GET", path)];
    for (const answer of answers) {
      expect(answer.status).toBe(400);
      expect((await errorIn(answer)).type).toBe("invalid_request");
    }
    expect(door.asked.conversations).toEqual([]);
  });

  it.each([
    ["an unknown agent", "/agents/nobody/c1"],
    ["an agent reached by dispatch only", "/agents/night-watch/c1"],
    ["a name of Object's own", "/agents/constructor/c1"],
    ["another case", "/agents/Coder/c1"],
    ["no id segment", "/agents/coder"],
    ["a segment too many", "/agents/coder/c1/nothing"],
    ["a slash at the end", "/agents/coder/c1/"],
    ["the root", "/"],
  ])("is not there for %s", async (_what, path) => {
    const door = openDoor();
    const answer = await door.post(path, message);
    expect(answer.status).toBe(404);
    expect((await errorIn(answer)).type).toBe("route_not_found");
    expect(door.asked.conversations).toEqual([]);
  });
});

describe("a method that is not there", () => {
  it.each<[string, string, string]>([
    ["PUT", "/agents/coder/c1", "GET, HEAD, POST, DELETE"],
    ["OPTIONS", "/agents/coder/c1", "GET, HEAD, POST, DELETE"],
    ["GET", "/agents/coder/c1/abort", "POST"],
    ["POST", "/agents/coder/c1/attachments/a", "GET"],
    ["POST", "/health", "GET"],
    ["POST", "/agents", "GET"],
  ])("%s %s is refused with Allow: %s", async (method, path, allow) => {
    const answer = await openDoor().ask(method, path);
    expect(answer.status).toBe(405);
    expect(answer.headers.get("allow")).toBe(allow);
    expect((await errorIn(answer)).type).toBe("method_not_allowed");
  });

  it("has no body on HEAD", async () => {
    const answer = await openDoor().ask("HEAD", "/agents/coder/c1/abort");
    expect(answer.status).toBe(405);
    expect(await answer.text()).toBe("");
  });
});

describe("abort and attachments", () => {
  it("abort gives what the conversation answers", async () => {
    const answer = await openDoor().ask("POST", "/agents/coder/c1/abort");
    expect(answer.status).toBe(200);
    expect(await answer.json()).toEqual({ aborted: true });
  });

  it("an abort names the one submission it is meant for, or none", async () => {
    const asked: (string | undefined)[] = [];
    const abort = async (id?: string) => {
      asked.push(id);
      return { ok: true, value: { aborted: false } } as const;
    };
    const door = openDoor({ rpc: { abort } });
    await door.ask("POST", "/agents/coder/c1/abort?submission=sub_1");
    await door.ask("POST", "/agents/coder/c1/abort");
    expect(asked).toEqual(["sub_1", undefined]);
    expect((await door.ask("POST", "/agents/coder/c1/abort?submission=a&submission=b")).status).toBe(400);
  });

  it("an attachment is served to be kept for ever, and never run as a page", async () => {
    const answer = await openDoor().ask("GET", "/agents/coder/c1/attachments/att_1");
    expect(answer.status).toBe(200);
    expect(await answer.text()).toBe("png");
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      "content-type": "image/png",
      "content-length": "3",
      "content-disposition": "inline",
      "cache-control": "private, max-age=31536000, immutable",
      "content-security-policy": "sandbox",
      "x-content-type-options": "nosniff",
    });
  });

  it("a deletion answers 204, and a conversation that is not there 404", async () => {
    const answer = await openDoor().ask("DELETE", "/agents/coder/c1");
    expect([answer.status, await answer.text()]).toEqual([204, ""]);
    const missing = { type: "stream_not_found", message: "Never contacted." } as const;
    const door = openDoor({ rpc: { erase: async () => ({ ok: false, error: missing }) } });
    expect((await door.ask("DELETE", "/agents/coder/c1")).status).toBe(404);
  });

  it("a submission and the queue are shown as the conversation tells them", async () => {
    const one = await openDoor().ask("GET", "/agents/coder/c1/submissions/sub_1");
    expect(await one.json()).toMatchObject({ submissionId: "sub_1", state: "queued" });
    const queue = await openDoor().ask("GET", "/agents/coder/c1/queue");
    expect(await queue.json()).toMatchObject({ running: null, joined: [], queued: [], usage: { totalTokens: 0 } });
  });
});

describe("the roster and health", () => {
  it("lists the agents and how they are reached", async () => {
    expect(await (await openDoor().ask("GET", "/agents")).json()).toEqual({
      agents: [
        { name: "coder", description: "Codes.", http: true },
        { name: "night-watch", http: false },
      ],
    });
  });

  it("answers health with version and nothing missing", async () => {
    expect(await (await openDoor().ask("GET", "/health")).json()).toEqual({
      status: "ok",
      version: "1.2.3",
      missing: [],
    });
  });

  it("names the secret that the model needs, and shows none", async () => {
    const door = openDoor({ settings: { model: "anthropic/claude-x", openai: { apiKey: "sk-open" } } });
    const text = await (await door.ask("GET", "/health")).text();
    expect(JSON.parse(text).missing).toEqual(["ANTHROPIC_API_KEY"]);
    expect(text).not.toContain("sk-open");
  });

  it("carries the headers every read carries", async () => {
    const head = await openDoor().ask("HEAD", "/agents/coder/c1");
    expect(head.headers.get("stream-next-offset")).toBe(OFFSET);
    for (const answer of [head, await openDoor().ask("GET", "/agents")]) {
      expect(answer.headers.get("x-content-type-options")).toBe("nosniff");
      expect(answer.headers.get("cross-origin-resource-policy")).toBe("cross-origin");
      expect(answer.headers.get("cache-control")).toBe("no-store");
    }
  });
});
