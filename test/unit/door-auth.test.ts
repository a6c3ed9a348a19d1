/** Who may call. Source: contract RUNTIME 1.13; case http-05. */
import { afterEach, describe, expect, it, vi } from "vitest";
import { parseSettings } from "../../worker/config.ts";
import { type Door, errorIn, ORIGIN, openDoor, TOKEN } from "./fixtures/door.ts";

const PATH = "/agents/coder/c1";
const body = JSON.stringify({ kind: "user", body: "x" });

const REQUESTS: [string, string][] = [
  ["POST", PATH],
  ["GET", PATH],
  ["GET", `${PATH}?view=updates&offset=-1&live=sse`],
  ["HEAD", PATH],
  ["POST", `${PATH}/abort`],
  ["GET", `${PATH}/attachments/a`],
  ["GET", "/agents"],
  ["GET", "/nothing"],
];

function ask(door: Door, method: string, path: string, authorization: string | undefined): Promise<Response> {
  const headers: Record<string, string> = { "content-type": "application/json" };
  // An empty header stands for none: the fixture's own is replaced.
  headers.authorization = authorization ?? "";
  return door.ask(method, path, method === "POST" ? { body, headers } : { headers });
}

afterEach(() => vi.restoreAllMocks());

describe("a deployment with tokens", () => {
  it.each([
    undefined,
    "Bearer",
    "Bearer ",
    "Bearer undefined",
    "Bearer null",
    "Bearer wrong",
    `Bearer ${TOKEN}x`,
    `Bearer ${TOKEN.slice(0, -1)}`,
    `Bearer ${TOKEN.toUpperCase()}`,
    `Bearer ${TOKEN} extra`,
    `Basic ${TOKEN}`,
    TOKEN,
    `Bearer${TOKEN}`,
  ])("refuses %j on every route and asks nothing of a conversation", async (authorization) => {
    const door = openDoor();
    for (const [method, path] of REQUESTS) {
      const answer = await ask(door, method, path, authorization);
      expect(answer.status, `${method} ${path}`).toBe(401);
      expect(answer.headers.get("www-authenticate")).toBe("Bearer");
      if (method !== "HEAD") expect((await errorIn(answer)).type).toBe("unauthorized");
    }
    expect(door.asked.conversations).toEqual([]);
  });

  it.each([`Bearer ${TOKEN}`, `bearer ${TOKEN}`, `BEARER  ${TOKEN}`])("lets %j in", async (authorization) => {
    expect((await ask(openDoor(), "POST", PATH, authorization)).status).toBe(202);
  });

  it("lets any of its tokens in", async () => {
    const door = openDoor({ settings: { auth: { tokens: ["first", "second"], openForDevelopment: false } } });
    expect((await ask(door, "POST", PATH, "Bearer first")).status).toBe(202);
    expect((await ask(door, "POST", PATH, "Bearer second")).status).toBe(202);
    expect((await ask(door, "POST", PATH, "Bearer first,second")).status).toBe(401);
  });

  it("takes no token from the address", async () => {
    expect((await ask(openDoor(), "POST", `${PATH}?token=${TOKEN}&access_token=${TOKEN}`, undefined)).status).toBe(401);
  });

  it("writes no token into a log or an answer", async () => {
    const logged: unknown[] = [];
    for (const level of ["log", "info", "warn", "error"] as const) {
      vi.spyOn(console, level).mockImplementation((...args) => void logged.push(...args));
    }
    const door = openDoor({ rpc: { admit: () => Promise.reject(new Error("boom")) } });
    const wrong = await (await ask(door, "POST", PATH, "Bearer almost-right")).text();
    const failed = await (await ask(door, "POST", PATH, `Bearer ${TOKEN}`)).text();
    expect(logged).toHaveLength(1);
    expect(JSON.stringify(logged) + wrong + failed).not.toMatch(/s3cret-token|almost-right/);
  });

  it("answers health to anybody", async () => {
    expect((await ask(openDoor(), "GET", "/health", undefined)).status).toBe(200);
  });
});

describe("a deployment without tokens", () => {
  it.each<[string, Record<string, string>]>([
    ["unset", {}],
    ["empty", { BERTH_TOKENS: "" }],
    ["blank", { BERTH_TOKENS: " , ,, " }],
  ])("serves nobody when BERTH_TOKENS is %s, and says what to set", async (_what, env) => {
    const door = openDoor({ settings: () => parseSettings(env) });
    for (const [method, path] of REQUESTS) {
      for (const authorization of [undefined, "Bearer ", "Bearer undefined", "Bearer x"]) {
        const answer = await ask(door, method, path, authorization);
        expect(answer.status, `${method} ${path}`).toBe(503);
        expect(answer.headers.get("retry-after")).toBe("1");
        if (method !== "HEAD") expect((await errorIn(answer)).details).toContain("BERTH_TOKENS");
      }
    }
    const health = await ask(door, "GET", "/health", undefined);
    expect(health.status).toBe(200);
    expect((await health.json<{ missing: string[] }>()).missing).toContain("BERTH_TOKENS");
  });

  it("names the setting that cannot be read, on every route, and /health still answers", async () => {
    const door = openDoor({ settings: () => parseSettings({ SANDBOX: "moon" }) });
    const refused = await ask(door, "GET", PATH, undefined);
    expect(refused.status).toBe(503);
    expect((await errorIn(refused)).message).toContain("SANDBOX");
    const health = await ask(door, "GET", "/health", undefined);
    expect(health.status).toBe(200);
    expect(await health.json()).toMatchObject({ status: "misconfigured", fault: expect.stringContaining("SANDBOX") });
  });
});

describe("development", () => {
  const open = () => parseSettings({ BERTH_DEV_OPEN: "1" });

  it.each(["http://localhost:8787", "http://127.0.0.1:8787", "http://[::1]:8787", "http://app.localhost"])(
    "is open by its flag on %s",
    async (origin) => {
      expect((await ask(openDoor({ settings: open, origin }), "POST", PATH, undefined)).status).toBe(202);
    },
  );

  it.each([ORIGIN, "http://192.168.1.5:8787", "http://localhost.evil.example", "http://127.0.0.1.nip.io"])(
    "stays shut on %s although the flag is set",
    async (origin) => {
      expect((await ask(openDoor({ settings: open, origin }), "POST", PATH, undefined)).status).toBe(503);
    },
  );

  it("is shut on loopback without the flag", async () => {
    const door = openDoor({ settings: () => parseSettings({}), origin: "http://localhost:8787" });
    expect((await ask(door, "POST", PATH, undefined)).status).toBe(503);
  });
});

describe("a page of another origin", () => {
  it.each(["https://evil.example", "null", "http://berth.example", "https://berth.example:8443"])(
    "may not change anything from %s, even with a token",
    async (origin) => {
      const door = openDoor();
      for (const path of [PATH, `${PATH}/abort`]) {
        const answer = await door.ask("POST", path, { body, headers: { origin, "content-type": "application/json" } });
        expect(answer.status).toBe(403);
        expect((await errorIn(answer)).type).toBe("forbidden");
      }
      expect(door.asked.conversations).toEqual([]);
      expect((await door.ask("GET", PATH, { headers: { origin } })).status).toBe(200);
    },
  );

  it("is refused in development too", async () => {
    const door = openDoor({ settings: () => parseSettings({ BERTH_DEV_OPEN: "1" }), origin: "http://localhost:8787" });
    const headers = { authorization: "", origin: "https://evil.example", "content-type": "application/json" };
    expect((await door.ask("POST", PATH, { body, headers })).status).toBe(403);
  });

  it("is not a page of our own", async () => {
    const answer = await openDoor().ask("POST", PATH, {
      body,
      headers: { origin: ORIGIN, "content-type": "application/json" },
    });
    expect(answer.status).toBe(202);
  });
});
