/** What the build packs of `worker/skills/`, and what stops it. Source: contract RUNTIME 8. */
import { execFileSync, spawnSync } from "node:child_process";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { packagedSkill } from "../../../durable-objects/agent/index.ts";
import { createPackagedSkills } from "../../../durable-objects/skills/packaged-skills.ts";
import { packSkills } from "../../../worker/cli/pack-skills.mjs";

let root: string;
beforeEach(() => {
  root = mkdtempSync(path.join(tmpdir(), "berth-skills-"));
});
afterEach(() => rmSync(root, { recursive: true }));

const MAIN = "---\nname: demo\ndescription: d\n---\nBody\n";

function put(file: string, content: string | Uint8Array): void {
  const target = path.join(root, "worker/skills", file);
  mkdirSync(path.dirname(target), { recursive: true });
  writeFileSync(target, content);
}

const output = () => path.join(root, ".berth/packaged-skills.json");
const packed = () => JSON.parse(readFileSync(output(), "utf8"));

describe("packing skills", () => {
  it("keeps text as text and the rest as base64, by name and by path", () => {
    put("demo/SKILL.md", MAIN);
    put("demo/ref/a b.md", "\uFEFFé");
    put("demo/n.bin", Uint8Array.of(0, 1));
    put("demo/latin.txt", Uint8Array.of(0xe9));
    expect(packSkills(root)).toEqual({ isChanged: true, names: ["demo"], warnings: [] });
    expect(packed()).toEqual({
      demo: {
        "SKILL.md": { encoding: "text", content: MAIN },
        "latin.txt": { encoding: "base64", content: "6Q==" },
        "n.bin": { encoding: "base64", content: "AAE=" },
        "ref/a b.md": { encoding: "text", content: "\uFEFFé" },
      },
    });
    expect(createPackagedSkills(packed())("demo")).toMatchObject({ name: "demo", instructions: "Body" });
  });

  it("writes an empty list where there is no folder, and passes over files beside the folders", () => {
    expect(packSkills(root).names).toEqual([]);
    put("README.md", "about");
    packSkills(root);
    expect(packed()).toEqual({});
  });

  it("writes only what changed, and leaves no draft behind", () => {
    put("demo/SKILL.md", MAIN);
    packSkills(root);
    utimesSync(output(), 1, 1);
    expect(packSkills(root).isChanged).toBe(false);
    expect(statSync(output()).mtimeMs).toBe(1000);
    put("demo/x", "1");
    expect(packSkills(root).isChanged).toBe(true);
    expect(readdirSync(path.dirname(output()))).toEqual(["packaged-skills.json"]);
  });

  it("leaves out what tools leave behind", () => {
    put("demo/SKILL.md", MAIN);
    for (const noise of [".git/config", "node_modules/x/.env", "dist/x", "sub/.DS_Store", "__pycache__/x.pyc"]) {
      put(`demo/${noise}`, "x");
    }
    packSkills(root);
    expect(Object.keys(packed().demo)).toEqual(["SKILL.md"]);
  });

  it.each([
    ".env",
    ".env.production",
    "sub/.env.local",
    ".ENV",
    ".dev.vars",
    "server.pem",
    "Server.PEM",
    "tls.key",
    "a.p12",
    "id_rsa",
    "id_rsa.pub",
    "id_ed25519",
    ".npmrc",
    ".netrc",
    ".git-credentials",
    ".aws/config",
    ".ssh/known_hosts",
    "credentials",
    "credentials.json",
    ".docker/config.json",
    "vault.kdbx",
  ])("stops at %s and names it", (file) => {
    put("demo/SKILL.md", MAIN);
    put(`demo/${file}`, "x");
    const named = file.split("/").find((part) => part.startsWith(".")) ?? file;
    expect(() => packSkills(root)).toThrow(
      `worker/skills/demo/${file.startsWith("sub") ? file : named} looks like a credential`,
    );
    expect(() => packed()).toThrow();
  });

  it.each(["RSA ", "OPENSSH ", "EC ", "ENCRYPTED ", ""])("stops at a file that holds a %sprivate key", (kind) => {
    put("demo/SKILL.md", MAIN);
    put("demo/notes.txt", `text\n-----BEGIN ${kind}PRIVATE KEY-----\nMIIE\n`);
    expect(() => packSkills(root)).toThrow("worker/skills/demo/notes.txt holds a private key.");
  });

  it("lets a skill speak of keys", () => {
    put("demo/SKILL.md", `${MAIN}Look for "-----BEGIN RSA PRIVATE KEY-----" and for public keys.\n`);
    put("demo/environment.md", "About .env files.");
    expect(packSkills(root).names).toEqual(["demo"]);
  });

  it("stops at every symbolic link, whatever it leads to", () => {
    put("demo/SKILL.md", MAIN);
    writeFileSync(path.join(root, "secret"), "x");
    symlinkSync(path.join(root, "secret"), path.join(root, "worker/skills/demo/a"));
    symlinkSync("nowhere", path.join(root, "worker/skills/demo/b"));
    symlinkSync("demo", path.join(root, "worker/skills/c"));
    expect(() => packSkills(root)).toThrow(
      /skills\/c is a symbolic link.*demo\/a is a symbolic link.*demo\/b is a symbolic link/s,
    );
    rmSync(path.join(root, "worker/skills"), { recursive: true });
    symlinkSync(root, path.join(root, "worker/skills"));
    expect(() => packSkills(root)).toThrow("worker/skills is a symbolic link.");
  });

  it.skipIf(process.platform === "win32")("stops at a pipe instead of waiting for it", () => {
    put("demo/SKILL.md", MAIN);
    execFileSync("mkfifo", [path.join(root, "worker/skills/demo/pipe")]);
    expect(() => packSkills(root)).toThrow("demo/pipe is neither a file nor a folder.");
  });

  it.each([
    ["a folder without SKILL.md", "demo/x", "x", "worker/skills/demo has no SKILL.md."],
    ["a SKILL.md without front matter", "demo/SKILL.md", "# x", "demo/SKILL.md does not begin with front matter"],
    [
      "a SKILL.md without a description",
      "demo/SKILL.md",
      "---\nname: demo\ndescription:\n---\n",
      "has no `description:`",
    ],
    ["a SKILL.md without a name", "demo/SKILL.md", "---\ndescription: d\n---\n", "has no `name:`"],
    ["a name in the body only", "demo/SKILL.md", "---\ndescription: d\n---\nname: demo\n", "has no `name:`"],
    ["another name", "demo/SKILL.md", "---\nname: demos\n---\n", 'names itself "demos", but its folder is "demo".'],
    ["a folder that is no name", "My Skill/SKILL.md", MAIN, "worker/skills/My Skill is no name of a skill"],
  ])("stops at %s", (_what, file, content, message) => {
    put(file, content);
    expect(() => packSkills(root)).toThrow(message);
  });

  it.each(["name: demo", 'name: "demo"', "name: 'demo' # ours", "license: x\r\nname: demo\r"])(
    "reads the name from %j",
    (line) => {
      put("demo/SKILL.md", `\uFEFF---\r\n${line}\ndescription: d\n---\nBody`);
      expect(packSkills(root).names).toEqual(["demo"]);
    },
  );

  it("names every fault at once", () => {
    put("demo/SKILL.md", MAIN);
    put("demo/.env", "x");
    put("other/x.pem", "x");
    expect(() => packSkills(root)).toThrow(/demo\/\.env.*other\/x\.pem.*other has no SKILL\.md/s);
  });

  it("warns of a skill above 1 MiB and packs it", () => {
    put("demo/SKILL.md", MAIN);
    put("demo/large.txt", "x".repeat(1_600_000));
    expect(packSkills(root).warnings).toEqual([expect.stringMatching(/worker\/skills\/demo is 1\.5 MiB/)]);
  });
});

describe("the skills of this deployment", () => {
  it("can all be used", () => {
    for (const name of packSkills().names) expect(packagedSkill(name as "review-changes").name).toBe(name);
  });

  it("are packed by a script that needs nothing installed", () => {
    const run = spawnSync(process.execPath, ["worker/cli/pack-skills.mjs"], { encoding: "utf8" });
    expect([run.status, run.stderr]).toEqual([0, ""]);
  });
});
