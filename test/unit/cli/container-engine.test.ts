import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { prepareContainerEngine } from "../../../worker/cli/container-engine.mjs";

describe("the container engine of a development run", () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "berth-engine-"));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const engine = (script: string) => {
    const program = join(folder, "docker");
    writeFileSync(program, `#!/bin/sh\n${script}\n`, { mode: 0o700 });
    return { PATH: "/usr/bin:/bin", WRANGLER_DOCKER_BIN: program };
  };

  it("is missed with one sentence that says what to do", () => {
    const environment = { ...engine("exit 1"), DOCKER_HOST: "unix:///nowhere.sock" };
    expect(() => prepareContainerEngine(environment, folder)).toThrow(
      /^SANDBOX=container needs a container engine, and none answers at unix:\/\/\/nowhere\.sock .*SANDBOX=virtual npm start$/,
    );
  });

  it("builds on the public base unless it has one of its own", () => {
    const environment = engine('[ "$1" = info ]');
    expect(prepareContainerEngine(environment, folder)).toBe(environment);
  });

  it("builds on its own base where it has one, and passes everything else on", () => {
    const { WRANGLER_DOCKER_BIN: wrapper = "" } = prepareContainerEngine(engine("exit 0"), folder);
    expect(readFileSync(wrapper, "utf8")).toContain("--build-arg 'BASE=berth-base:local'");
  });
});
