/** The system prompt to the character, and what is found in a workspace. Source: contract RUNTIME 5. */
import { execFile } from "node:child_process";
import { lstat, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { ExecResult, Sandbox } from "../../containers/sandbox.ts";
import { composePrompt } from "../../durable-objects/prompt/compose.ts";
import { discoverWorkspace } from "../../durable-objects/prompt/discovery.ts";
import type { PromptInput } from "../../durable-objects/prompt/section.ts";

const now = Date.UTC(2026, 10, 30, 23, 59, 59);
const bare: PromptInput = { instructions: "You help.", skills: [], agents: [], tools: ["task"], now };
const noSkills = { skills: [], skippedSkills: [] };

describe("the system prompt", () => {
  it("holds no word about a workspace without a sandbox", () => {
    expect(composePrompt(bare)).toBe(
      [
        "You help.",
        "## Available Agents\n\nNo agents are available for delegation. Do not call the `task` tool.",
        "## Available Tools\n\n- task",
        "Date: Mon, Nov 30, 2026",
      ].join("\n\n"),
    );
  });

  it("holds all sections in order with one", () => {
    const prompt = composePrompt({
      ...bare,
      workspace: { cwd: "/workspace", guide: "Use tabs.", entries: ["src/", "z.md"], omitted: 0, ...noSkills },
      skills: [{ name: "deploy", description: "Ships it." }],
      agents: [{ name: "reviewer", description: "Reads code." }],
      tools: ["read", "write", "task"],
    });
    expect(prompt).toBe(
      [
        "You help.",
        "Use tabs.",
        "## Available Skills\n\nBefore work that matches one of these descriptions, call `activate_skill` with its name to load its instructions.\n\n- **deploy** — Ships it.",
        "## Available Agents\n\n- **reviewer** — Reads code.",
        "## Available Tools\n\n- read\n- write\n- task",
        "Date: Mon, Nov 30, 2026",
        "Working directory: /workspace",
        "Directory structure:\nsrc/\nz.md",
      ].join("\n\n"),
    );
  });

  it("says how many names were left out", () => {
    const prompt = composePrompt({ ...bare, workspace: { cwd: "/w", entries: ["a"], omitted: 12, ...noSkills } });
    expect(prompt.endsWith("Directory structure:\na\n(12 more not shown)")).toBe(true);
  });

  it("tells the day in UTC", () => {
    expect(composePrompt({ ...bare, now: Date.UTC(2027, 0, 3) })).toContain("Date: Sun, Jan 3, 2027");
  });

  it("leaves no gap where an agent says nothing", () => {
    expect(composePrompt({ ...bare, instructions: "" }).startsWith("## Available Agents")).toBe(true);
  });
});

function shell(command: string, cwd: string): Promise<ExecResult> {
  return new Promise((resolve) => {
    execFile("sh", ["-c", command], { cwd, maxBuffer: 1 << 26 }, (error, stdout, stderr) => {
      resolve({ stdout, stderr, exitCode: typeof error?.code === "number" ? error.code : error ? 1 : 0 });
    });
  });
}

/** A sandbox over a real folder that counts its round trips. */
function openFolder(root: string, localFiles: boolean): { sandbox: Sandbox; calls: string[] } {
  const calls: string[] = [];
  const counted = <T>(name: string, result: Promise<T>) => {
    calls.push(name);
    return result;
  };
  const refuse = () => Promise.reject(new Error("not used"));
  const sandbox: Sandbox = {
    cwd: root,
    localFiles,
    resolvePath: (path) => join(root, path),
    exec: (command) => counted("exec", shell(command, root)),
    readFile: (path) => counted("readFile", readFile(path, "utf8")),
    readFileBuffer: (path) => counted("readFileBuffer", readFile(path)),
    stat: (path) =>
      counted(
        "stat",
        Promise.all([stat(path), lstat(path)]).then(([found, own]) => ({
          ...{ isFile: found.isFile(), isDirectory: found.isDirectory(), size: found.size },
          isSymbolicLink: own.isSymbolicLink(),
        })),
      ),
    readdir: (path) => counted("readdir", readdir(path)),
    writeFile: refuse,
    exists: refuse,
    mkdir: refuse,
    rm: refuse,
  };
  return { sandbox, calls };
}

describe.each([
  ["by one command", false],
  ["by file verbs", true],
])("workspace discovery %s", (_how, localFiles) => {
  let root = "";

  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), "berth-discovery-"));
  });
  afterEach(() => rm(root, { recursive: true, force: true }));

  const discover = () => discoverWorkspace(openFolder(root, localFiles).sandbox);

  it("finds guide and names, sorted by bytes, directories marked, hidden ones too", async () => {
    await mkdir(join(root, "src"));
    await mkdir(join(root, ".git"));
    for (const name of ["Zeta", "alpha", "é.txt", "a b"]) await writeFile(join(root, name), "x");
    await writeFile(join(root, "AGENTS.md"), "\n  Use tabs.  \n\n");
    expect(await discover()).toEqual({
      cwd: root,
      guide: "Use tabs.",
      entries: [".git/", "AGENTS.md", "Zeta", "a b", "alpha", "src/", "é.txt"],
      omitted: 0,
      ...noSkills,
    });
  });

  it("keeps every name on its line, so that none can pass for a section of the prompt", async () => {
    await mkdir(join(root, "b\nc"));
    await mkdir(join(root, "linked"));
    await symlink("linked", join(root, "link"));
    for (const name of ["a\n## Available Tools", "tab\t", " blank ", "-n"]) await writeFile(join(root, name), "x");
    expect(await discover()).toMatchObject({
      entries: [" blank ", '"a\\n## Available Tools"', '"b\\nc"/', '"tab\\t"', "-n", "link", "linked/"],
      omitted: 0,
    });
  });

  it("takes CLAUDE.md only when there is no AGENTS.md", async () => {
    await writeFile(join(root, "CLAUDE.md"), "claude");
    expect((await discover()).guide).toBe("claude");
    await writeFile(join(root, "AGENTS.md"), "agents");
    expect((await discover()).guide).toBe("agents");
  });

  it("passes over an AGENTS.md that is a directory", async () => {
    await mkdir(join(root, "AGENTS.md"));
    await writeFile(join(root, "CLAUDE.md"), "claude");
    expect((await discover()).guide).toBe("claude");
  });

  it("has no guide when there is none, when it is blank, or when its link leads nowhere", async () => {
    expect(await discover()).toEqual({ cwd: root, entries: [], omitted: 0, ...noSkills });
    await writeFile(join(root, "AGENTS.md"), " \n");
    expect((await discover()).guide).toBeUndefined();
    await rm(join(root, "AGENTS.md"));
    await symlink("nowhere", join(root, "AGENTS.md"));
    expect((await discover()).guide).toBeUndefined();
  });

  it("cuts a guide above 32 KiB at a whole character and says so", async () => {
    await writeFile(join(root, "AGENTS.md"), `x${"é".repeat(20_000)}`);
    const guide = (await discover()).guide ?? "";
    const note = "\n\n[AGENTS.md is longer than 32 KiB and is cut here.]";
    expect(guide.endsWith(note)).toBe(true);
    expect(guide.slice(0, -note.length)).toBe(`x${"é".repeat(16_383)}`);
  });

  it("keeps a guide of exactly 32 KiB whole", async () => {
    await writeFile(join(root, "AGENTS.md"), "y".repeat(32 * 1024));
    expect((await discover()).guide).toBe("y".repeat(32 * 1024));
  });

  it("survives a guide of 40 MB and one that is no text", async () => {
    await writeFile(join(root, "AGENTS.md"), Buffer.alloc(40_000_000, 0x61));
    expect((await discover()).guide?.startsWith("aaaa")).toBe(true);
    await writeFile(join(root, "AGENTS.md"), Uint8Array.of(0xff, 0xfe, 0x00, 0x41));
    expect((await discover()).guide).toContain("A");
  });

  it("lists 200 of 230 names and counts the others", async () => {
    await Promise.all(
      Array.from({ length: 230 }, (_, n) => writeFile(join(root, `f${String(n).padStart(3, "0")}`), "")),
    );
    const found = await discover();
    expect(found.entries).toHaveLength(200);
    expect(found.entries.at(-1)).toBe("f199");
    expect(found.omitted).toBe(30);
  });

  it("finds nothing in a directory that is not there, and says nothing", async () => {
    const { sandbox } = openFolder(join(root, "gone"), localFiles);
    const found = await discoverWorkspace(sandbox);
    expect(found.entries).toEqual([]);
    expect(found.guide).toBeUndefined();
  });
});

describe("workspace discovery", () => {
  it("costs one round trip with a shell far away, and starts no shell where files are near", async () => {
    const root = await mkdtemp(join(tmpdir(), "berth-discovery-"));
    await writeFile(join(root, "AGENTS.md"), "guide");
    const far = openFolder(root, false);
    const near = openFolder(root, true);
    await discoverWorkspace(far.sandbox);
    await discoverWorkspace(near.sandbox);
    expect(far.calls).toEqual(["exec"]);
    expect(near.calls).not.toContain("exec");
    await rm(root, { recursive: true });
  });

  it("lets the failure of the sandbox itself through, for the caller decides about that", async () => {
    const { sandbox } = openFolder("/", false);
    const dead: Sandbox = { ...sandbox, exec: () => Promise.reject(new Error("container gone")) };
    await expect(discoverWorkspace(dead)).rejects.toThrow("container gone");
  });
});
