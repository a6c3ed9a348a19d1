/** A list of agents that cannot be served: the Worker starts and says why, instead of ending the server. */
import { describe, expect, it } from "vitest";
import type { Agent } from "../../durable-objects/agent/index.ts";
import { composeWorker } from "../../worker/compose.ts";

const agent: Agent = () => undefined;

describe("a list of agents with a faulty name", () => {
  it("is answered with what is wrong with it", async () => {
    const { handler } = composeWorker({ my_agent: agent });
    const answer = await handler.fetch(new Request("http://127.0.0.1/agents"));
    expect(answer.status).toBe(503);
    const { error } = (await answer.json()) as { error: { type: string; message: string; details: string } };
    expect(error.type).toBe("runtime_unavailable");
    expect(error.message).toContain('Agent name "my_agent" is not valid');
    expect(error.details).toContain("Correct worker/agents/");
  });
});
