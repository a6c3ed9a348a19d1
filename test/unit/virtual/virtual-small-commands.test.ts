import { describe, expect, it } from "vitest";
import { openDriver } from "./open-driver.ts";

describe("the shell of the virtual sandbox", () => {
  it.each([
    ["id -u; id -un; id -g -n", "1000\nuser\nuser\n"],
    ["uname; uname -sm", "Linux\nLinux wasm\n"],
    ["yes | head -2; yes a b | head -1", "y\ny\na b\n"],
  ])("answers %s", async (command, stdout) => {
    expect((await openDriver().run(command)).stdout).toBe(stdout);
  });

  it("makes files and folders with names of their own", async () => {
    const { run, print } = openDriver();
    const made = await print(
      "a=$(mktemp); b=$(mktemp -d); c=$(mktemp x-XXXX.txt); test -f $a && test -d $b && echo $c",
    );
    expect(made).toMatch(/^x-[a-z0-9]{4}\.txt\n$/);
    expect(await print("ls /tmp | wc -l")).toMatch(/^\s*2\n$/);
    expect((await run("mktemp nothing")).stderr).toBe("mktemp: too few X's in template 'nothing'\n");
    expect((await run("mktemp no/such/XXXX")).exitCode).toBe(1);
  });

  it("refuses what it cannot tell", async () => {
    const { run } = openDriver();
    expect((await run("id root")).exitCode).toBe(1);
    expect((await run("uname --kernel")).exitCode).toBe(1);
  });

  it("ends an endless program by itself and says so", async () => {
    const { exitCode, stderr, stdout } = await openDriver().run("yes");
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(/^yes: stopped/);
    expect(stdout.length).toBeLessThanOrEqual(1024 * 1024);
  });
});
