/** What reaches the Worker, what reaches wrangler, and when the door is open. */
import { describe, expect, it } from "vitest";
import { parseDevArguments, renderAddress } from "../../../worker/cli/dev-arguments.mjs";
import { collectSettings, filterHostEnvironment } from "../../../worker/cli/dev-settings.mjs";

const LOOPBACK = { loopback: true };

describe("the settings of a development run", () => {
  it("are ours and the file's only, so that nothing of the host reaches an agent", () => {
    const host = { PATH: "/bin", AWS_SECRET_ACCESS_KEY: "x", OPENAI_API_KEY: "k", BERTH_MODEL: "openai/m" };
    const settings = collectSettings(host, { MY_OWN: "1", BERTH_MODEL: "from the file" }, LOOPBACK);
    expect(settings).toEqual({
      OPENAI_API_KEY: "k",
      BERTH_MODEL: "openai/m",
      MY_OWN: "1",
      SANDBOX: "virtual",
      BERTH_DEV_OPEN: "1",
    });
  });

  it("lose what an empty variable takes away, and keep a sandbox in every case", () => {
    const host = { OPENAI_API_KEY: "", SANDBOX: "" };
    const settings = collectSettings(host, { OPENAI_API_KEY: "k", SANDBOX: "none" }, LOOPBACK);
    expect(settings.OPENAI_API_KEY).toBeUndefined();
    expect(settings.SANDBOX).toBe("virtual");
  });

  it.each([
    ["tokens are set", { BERTH_TOKENS: "t" }, LOOPBACK],
    ["a JWT secret is set", { BERTH_JWT_SECRET: "s" }, LOOPBACK],
    ["others can reach it", {}, { loopback: false }],
    ["others can reach it although the environment says open", { BERTH_DEV_OPEN: "1" }, { loopback: false }],
  ])("leave the door closed when %s", (_when, host: Record<string, string>, reach) => {
    expect(collectSettings(host, {}, reach)).not.toHaveProperty("BERTH_DEV_OPEN");
  });

  it("are not in wrangler's own environment, nor anything else it does not need", () => {
    const host = { PATH: "/bin", OPENAI_API_KEY: "k", CLOUDFLARE_INCLUDE_PROCESS_ENV: "true", NODE_OPTIONS: "--x" };
    const environment = filterHostEnvironment(host, "/run");
    expect(environment).toMatchObject({ PATH: "/bin", WRANGLER_SEND_METRICS: "false" });
    for (const name of ["OPENAI_API_KEY", "CLOUDFLARE_INCLUDE_PROCESS_ENV", "NODE_OPTIONS"]) {
      expect(environment).not.toHaveProperty(name);
    }
  });
});

describe("the arguments of npm start", () => {
  it("default to one loopback port, no account, no Docker", () => {
    const dev = parseDevArguments([]);
    expect(dev).toMatchObject({ ip: "127.0.0.1", port: 8787, loopback: true });
    expect(dev.rest).toEqual([
      "--local",
      "--inspector-port=0",
      "--show-interactive-dev-session=false",
      "--enable-containers=false",
    ]);
  });

  it("turn containers on and run their environment when the sandbox is one, unless the caller named another", () => {
    const { rest } = parseDevArguments([], "container");
    expect(rest).toEqual(expect.arrayContaining(["--env", "container", "--enable-containers=true"]));
    expect(parseDevArguments(["--env", "mine"], "container").rest).not.toContain("container");
    const deployed = parseDevArguments([], "cloudflare").rest;
    expect(deployed).toContain("--enable-containers=true");
    expect(deployed).not.toContain("--env");
  });

  it("let the caller's own win, in every spelling", () => {
    const dev = parseDevArguments([
      ...["--port=8799", "--ip", "::1", "--inspectorPort", "9230", "--no-local", "--enable-containers"],
      ...["--show-interactive-dev-session=true", "--persist-to", "DIR", "--env-file", "a", "--env-file=b"],
    ]);
    expect(dev).toMatchObject({ ip: "::1", port: 8799, loopback: true, envFiles: ["a", "b"] });
    expect(dev.rest).toEqual([
      ...["--inspectorPort", "9230", "--no-local", "--enable-containers", "--show-interactive-dev-session=true"],
      ...["--persist-to", "DIR"],
    ]);
  });

  it.each([["--ip", "0.0.0.0"], ["--ip=192.168.1.2"], ["--remote"], ["-r"], ["--tunnel"]])(
    "count as reachable by others with %s %s",
    (...args) => {
      expect(parseDevArguments(args).loopback).toBe(false);
    },
  );

  it("refuse a port that is none", () => {
    expect(() => parseDevArguments(["--port", "http"])).toThrow(/--port/);
  });

  it("name an address that can be called", () => {
    expect(renderAddress("0.0.0.0", 1)).toBe("http://127.0.0.1:1");
    expect(renderAddress("::1", 2)).toBe("http://[::1]:2");
  });
});
