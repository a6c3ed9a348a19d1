/** The deployer's list of agents, and the sandbox a deployment chose. Source: contract RUNTIME 1.1, 4, 9. */
import { describe, expect, it } from "vitest";
import { sandbox } from "../../containers/configured.ts";
import { resolveConfigured } from "../../containers/drivers/index.ts";
import type { Agent, AgentEntry } from "../../durable-objects/agent/agent.ts";
import { createAgentRegistry } from "../../durable-objects/agent/registry.ts";
import { renderAgent } from "../../durable-objects/agent/render-agent.ts";
import type { SandboxKind } from "../../durable-objects/protocol/settings.ts";
import { agents } from "../../worker/agents/index.ts";
import { createSettings } from "./fixtures/settings.ts";

const agent: Agent = () => "x";

describe("the agent registry", () => {
  it("finds agents by name, with how they are served, in the order of the list", () => {
    const described: Agent = Object.assign(() => "y", { description: "Does y." });
    const registry = createAgentRegistry({ zed: agent, "a-b2": { agent: described, http: false }, c: { agent } });
    expect(registry.list().map(({ name, http }) => [name, http])).toEqual([
      ["zed", true],
      ["a-b2", false],
      ["c", true],
    ]);
    expect(registry.get("a-b2")).toMatchObject({ agent: described, description: "Does y." });
    expect(registry.get("nobody")).toBeUndefined();
    expect(registry.get("constructor")).toBeUndefined();
  });

  it.each(["", "1a", "a_b", "-a", "a-", "a--b", "a b", "ä", "a/b"])("refuses the name %j", (name) => {
    expect(() => createAgentRegistry({ [name]: agent })).toThrow(/is not valid/);
  });

  it.each<[unknown, RegExp]>([
    [{}, /must be a function or/],
    [null, /must be a function or/],
    [{ agent, http: "no" }, /http must be true or false/],
    [{ agent, route: 1 }, /unknown field "route"/],
  ])("refuses the entry %j", (entry, text) => {
    expect(() => createAgentRegistry({ a: entry as AgentEntry })).toThrow(text);
  });

  it("serves an agent under its own name where it has one, wherever it stands in the list", () => {
    const named = Object.assign(() => "x", { agentName: "real-name" });
    const registry = createAgentRegistry({ key: named, entry: { agent: agent, http: false } });
    expect(registry.list().map(({ name }) => name)).toEqual(["real-name", "entry"]);
    expect(registry.get("key")).toBeUndefined();
  });

  it.each<[unknown, RegExp]>([
    ["a b", /Agent name "a b" is not valid/],
    [7, /Agent name "7" is not valid/],
  ])("refuses an agent's own name %j", (agentName, text) => {
    expect(() => createAgentRegistry({ key: Object.assign(() => "x", { agentName }) as Agent })).toThrow(text);
  });

  it("refuses two agents of one name", () => {
    const named = Object.assign(() => "x", { agentName: "one" });
    expect(() => createAgentRegistry({ one: agent, other: named })).toThrow(/Two agents have the name "one"/);
  });

  it("keeps at a submission as long as the agent says, field by field", () => {
    const durabilityOf = (durability: unknown) =>
      createAgentRegistry({ a: Object.assign(() => "x", { durability }) as Agent }).get("a")?.durability;
    expect(durabilityOf(undefined)).toEqual({ maxAttempts: 10, timeoutMs: 3_600_000 });
    expect(durabilityOf({ timeoutMs: 5 })).toEqual({ maxAttempts: 10, timeoutMs: 5 });
    expect(durabilityOf({ maxAttempts: 1 })).toEqual({ maxAttempts: 1, timeoutMs: 3_600_000 });
  });

  it.each<[unknown, RegExp]>([
    [3, /Agent "a": durability must be an object/],
    [{ retries: 1 }, /Agent "a": durability received unknown field "retries"/],
    [{ maxAttempts: 0 }, /Agent "a": durability.maxAttempts must be a positive whole number/],
    [{ timeoutMs: 1.5 }, /Agent "a": durability.timeoutMs must be a positive whole number/],
    [{ timeoutMs: "1h" }, /Agent "a": durability.timeoutMs must be/],
  ])("refuses the durability %j", (durability, text) => {
    expect(() => createAgentRegistry({ a: Object.assign(() => "x", { durability }) as Agent })).toThrow(text);
  });

  it("holds the shipped samples: assistant without, coder with the deployment's sandbox, both on its model", () => {
    const registry = createAgentRegistry(agents);
    const render = (name: string) => {
      const entry = registry.get(name);
      if (entry === undefined) throw new Error(`no ${name}`);
      return renderAgent(entry, { id: "c", settings: createSettings({ model: "openai/x" }) });
    };
    expect(render("assistant")).toMatchObject({ model: { spec: "openai/x" } });
    expect(render("assistant").sandbox).toBeUndefined();
    expect(render("coder").sandbox?.factory.kind).toBe("configured");
  });
});

describe("the configured sandbox", () => {
  it("is the driver that SANDBOX names", () => {
    expect(resolveConfigured(sandbox(), "virtual")?.kind).toBe("virtual");
  });

  it("is none when SANDBOX says so", () => {
    expect(resolveConfigured(sandbox(), "none")).toBeUndefined();
  });

  it("leaves a factory alone that the author chose", () => {
    const own = { kind: "own", createSandbox: () => Promise.reject(new Error("unused")) };
    expect(resolveConfigured(own, "none")).toBe(own);
  });

  it("says what to set when the chosen kind is not built", () => {
    const kind = "someday" as SandboxKind;
    expect(() => resolveConfigured(sandbox(), kind)).toThrow(
      `SANDBOX=${kind} is not built yet. Set SANDBOX to one of: cloudflare, virtual, container, local, none.`,
    );
  });

  it("cannot be opened unresolved", async () => {
    await expect(sandbox().createSandbox({ id: "c" })).rejects.toThrow(/must be resolved/);
  });
});
