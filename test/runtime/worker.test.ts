/** The Worker in workerd, as `wrangler.toml` describes it. */
import { SELF } from "cloudflare:test";
import { describe, expect, it } from "vitest";

describe("the Worker", () => {
  it("answers its liveness without a token, so that a start script and a load balancer can ask", async () => {
    const answer = await SELF.fetch("http://127.0.0.1/health");
    expect(answer.status).toBe(200);
    expect(answer.headers.get("content-type")).toContain("application/json");
    expect(await answer.json()).toBeTypeOf("object");
  });

  it("answers an unknown path with JSON, never with a page", async () => {
    const answer = await SELF.fetch("http://127.0.0.1/nothing-is-here");
    expect(answer.status).toBe(404);
    expect(await answer.json()).toMatchObject({ error: { type: "route_not_found" } });
  });
});
