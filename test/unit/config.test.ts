/** The settings of a deployment. Source: contract RUNTIME 9, 1.13. */
import { describe, expect, it } from "vitest";
import { parseSettings, VARIABLES } from "../../worker/config.ts";

describe("the settings", () => {
  it("have the contract's defaults where nothing is set", () => {
    expect(parseSettings({})).toEqual({
      model: "scripted/demo",
      contextWindow: 128_000,
      maxTokens: 16_384,
      anthropic: {},
      openai: {},
      sandbox: "virtual",
      auth: { tokens: [], openForDevelopment: false },
    });
  });

  it("take what is set, trimmed, and treat blank as unset", () => {
    const ai = { fetch: () => {} };
    expect(
      parseSettings({
        BERTH_MODEL: " anthropic/claude-x ",
        BERTH_CONTEXT_WINDOW: "32000",
        BERTH_MAX_TOKENS: " ",
        ANTHROPIC_API_KEY: "ak\n",
        OPENAI_API_KEY: "",
        OPENAI_BASE_URL: "http://127.0.0.1:11434/v1/",
        SANDBOX: "none",
        BERTH_TOKENS: " a , b,,",
        BERTH_DEV_OPEN: "1",
        AI: ai,
        SOMETHING_ELSE: 1,
      }),
    ).toEqual({
      model: "anthropic/claude-x",
      contextWindow: 32_000,
      maxTokens: 16_384,
      anthropic: { apiKey: "ak" },
      openai: { baseUrl: "http://127.0.0.1:11434/v1" },
      ai,
      sandbox: "none",
      auth: { tokens: ["a", "b"], openForDevelopment: true },
    });
  });

  it("are frozen, so that nobody changes them for others", () => {
    const settings = parseSettings({ BERTH_TOKENS: "a" });
    for (const part of [settings, settings.auth, settings.auth.tokens, settings.openai])
      expect(Object.isFrozen(part)).toBe(true);
  });

  it.each<[string, unknown]>([
    ["BERTH_MODEL", "claude"],
    ["BERTH_MODEL", "/x"],
    ["BERTH_MODEL", 5],
    ["BERTH_CONTEXT_WINDOW", "many"],
    ["BERTH_CONTEXT_WINDOW", "0"],
    ["BERTH_CONTEXT_WINDOW", "1.5"],
    ["BERTH_MAX_TOKENS", "-1"],
    ["SANDBOX", "moon"],
    ["SANDBOX", "Virtual"],
    ["OPENAI_BASE_URL", "localhost:11434"],
    ["ANTHROPIC_BASE_URL", "ftp://x"],
    ["BERTH_TOKENS", "two words"],
    ["BERTH_DEV_OPEN", "yes"],
  ])("refuse %s=%j and name the variable, not its value", (name, value) => {
    try {
      parseSettings({ [name]: value });
      expect.unreachable();
    } catch (error) {
      expect(error).toMatchObject({ type: "runtime_unavailable", message: expect.stringContaining(name) });
      if (name === "BERTH_TOKENS") expect(String(error)).not.toContain("two words");
    }
  });

  it("are described, each once", () => {
    const names = VARIABLES.map((variable) => variable.name);
    expect(new Set(names).size).toBe(names.length);
    for (const variable of VARIABLES) expect(variable.description.length).toBeGreaterThan(10);
  });

  it("take the local process on a loopback address only, and only with its token", () => {
    const there = { BERTH_LOCAL_URL: "http://127.0.0.1:1234/", BERTH_LOCAL_TOKEN: "t" };
    expect(parseSettings(there).local).toEqual({ url: "http://127.0.0.1:1234", token: "t" });
    expect(parseSettings({ ...there, BERTH_LOCAL_TOKEN: "" }).local).toBeUndefined();
    expect(() => parseSettings({ ...there, BERTH_LOCAL_URL: "http://10.0.0.1:1" })).toThrow(
      "must be a loopback address",
    );
  });
});
