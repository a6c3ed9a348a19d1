import { describe, expect, it } from "vitest";
import { renderWelcome } from "../../../worker/cli/welcome.mjs";

const ADDRESS = "http://127.0.0.1:8787";

describe("the welcome of npm start", () => {
  it("gives the address and three commands, with a token where one is asked for", () => {
    const open = renderWelcome(ADDRESS, true, {});
    expect(open).toContain(`Berth is ready at ${ADDRESS}\n`);
    expect(open.match(/^ {2}curl .*127\.0\.0\.1:8787\/agents\/coder\/demo/gm)).toHaveLength(3);
    expect(open).not.toMatch(/authorization|Not set|Nothing can/);
    expect(renderWelcome(ADDRESS, false, {}).match(/-H "authorization: Bearer \$TOKEN"/g)).toHaveLength(3);
  });

  it("names what is not set, and what cannot be read", () => {
    const missing = ["BERTH_TOKENS", "OPENAI_API_KEY"];
    expect(renderWelcome(ADDRESS, true, { missing })).toContain("Not set yet: BERTH_TOKENS, OPENAI_API_KEY\n");
    const fault = "SANDBOX must be one of: virtual, none.";
    expect(renderWelcome(ADDRESS, true, { missing: [], fault })).toContain(`Nothing can be answered yet: ${fault}\n`);
  });
});
