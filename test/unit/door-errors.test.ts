/** The error envelope. Source: contract RUNTIME 1.11. */
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { parseSettings } from "../../worker/config.ts";
import { errorIn, openDoor } from "./fixtures/door.ts";

const PATH = "/agents/coder/c1";
let logged: string[] = [];

beforeEach(() => {
  logged = [];
  vi.spyOn(console, "error").mockImplementation((line) => void logged.push(String(line)));
});
afterEach(() => vi.restoreAllMocks());

function failing(thrown: unknown) {
  return { readHistory: () => Promise.reject(thrown), readHead: () => Promise.reject(thrown) };
}

describe("a fault of ours", () => {
  it("is a generic 500 whose reference stands in one log line, without stack or cause", async () => {
    const cause = new Error("secret table", { cause: new Error("deep") });
    const answer = await openDoor({ rpc: failing(cause) }).ask("GET", PATH);
    expect(answer.status).toBe(500);
    const text = await answer.text();
    const { error } = JSON.parse(text);
    expect(error.type).toBe("internal_error");
    expect(error.ref).toMatch(/^err_[0-9A-HJKMNP-TV-Z]{26}$/);
    expect(answer.headers.get("flue-error-ref")).toBe(error.ref);
    expect(text).not.toMatch(/secret table|deep|\.ts:/);
    expect(logged).toHaveLength(1);
    expect(JSON.parse(logged[0] ?? "")).toMatchObject({
      event: "request_failed",
      ref: error.ref,
      message: "secret table",
    });
  });

  it.each([["a string"], [undefined], [null], [{ odd: 1 }]])("is a 500 too when %j was thrown", async (thrown) => {
    expect((await openDoor({ rpc: failing(thrown) }).ask("GET", PATH)).status).toBe(500);
  });

  it("has no body on HEAD but keeps its reference", async () => {
    const answer = await openDoor({ rpc: failing(new Error("x")) }).ask("HEAD", PATH);
    expect(answer.status).toBe(500);
    expect(await answer.text()).toBe("");
    expect(answer.headers.get("flue-error-ref")).toMatch(/^err_/);
  });

  it("says more in development, and there only", async () => {
    const rpc = failing(new Error("what went wrong"));
    const settings = () => parseSettings({ BERTH_DEV_OPEN: "1", BERTH_TOKENS: "s3cret-token" });
    const local = await openDoor({ rpc, settings, origin: "http://localhost:8787" }).ask("GET", PATH);
    const deployed = await openDoor({ rpc, settings }).ask("GET", PATH);
    expect((await errorIn(local)).dev).toBe("what went wrong");
    expect((await errorIn(deployed)).dev).toBeUndefined();
  });
});

describe("an object that restarts", () => {
  it.each(["retryable", "durableObjectReset", "overloaded"])(
    "(%s) is a 503 to be tried again, not a fault of ours",
    async (flag) => {
      const answer = await openDoor({ rpc: failing(Object.assign(new Error("reset"), { [flag]: true })) }).ask(
        "GET",
        PATH,
      );
      expect(answer.status).toBe(503);
      expect(answer.headers.get("retry-after")).toBe("1");
      expect((await errorIn(answer)).type).toBe("runtime_unavailable");
      expect(logged).toEqual([]);
    },
  );
});

describe("a caller's fault", () => {
  it("is JSON with details, never logged, never with a reference", async () => {
    const answer = await openDoor().ask("GET", "/nowhere");
    expect(answer.headers.get("content-type")).toBe("application/json");
    expect(answer.headers.get("x-content-type-options")).toBe("nosniff");
    expect(answer.headers.get("cross-origin-resource-policy")).toBe("cross-origin");
    expect(answer.headers.has("flue-error-ref")).toBe(false);
    expect(await errorIn(answer)).toEqual({
      type: "route_not_found",
      message: "There is nothing at this address.",
      details: "",
    });
    expect(logged).toEqual([]);
  });
});
