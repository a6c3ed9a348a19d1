/** The code base keeps to the table in `layers.ts`; the rules themselves are shown to bite. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { CATALOGUES, ROOMS } from "./layers.ts";
import {
  findCycles,
  findLayerBreaks,
  findMissingHeaders,
  findNameBreaks,
  findPackageBreaks,
  findSizeBreaks,
  findSqlOutsideStore,
  findUnlistedMembers,
} from "./rules.ts";
import { readImports, readSourceFiles, type SourceFile } from "./source-files.ts";

const files = readSourceFiles();

describe("the code base", () => {
  it("was found", () => {
    expect(files.map((file) => file.path)).toContain("durable-objects/protocol/rpc.ts");
    expect(files.find((file) => file.path === "durable-objects/protocol/rpc.ts")?.imports).toContainEqual(
      expect.objectContaining({ file: "durable-objects/protocol/submission.ts" }),
    );
    expect(files.map((file) => file.path)).toContain("containers/image/berth-exec");
  });

  it.each([
    ["imports only what its layer allows", findLayerBreaks],
    ["uses each package only where the table says", findPackageBreaks],
    ["has no import cycle", findCycles],
    ["lists every member of a catalogue in its index", findUnlistedMembers],
    ["holds SQL in the store only", findSqlOutsideStore],
    ["keeps its files small", findSizeBreaks],
    ["names its files after what they export", findNameBreaks],
    ["opens every file with its purpose", findMissingHeaders],
  ])("%s", (_rule, find) => {
    expect(find(files)).toEqual([]);
  });
});

function source(path: string, text: string): SourceFile {
  return { path, text, lines: text.split("\n").length - 1, imports: readImports(text, path) };
}

describe("a rule", () => {
  it("reads every form of import", () => {
    const text = [
      'import type { A } from "./a.ts";',
      'import { type B, type C } from "./b.ts";',
      'import d, { type D } from "./d.ts";',
      'import {\n  e,\n  f,\n} from "../e.ts";',
      'import * as g from "./g.ts";',
      'export * from "./h.ts";',
      'export type { I } from "./i.ts";',
      'import "./j.ts";',
      'const k = await import("./k.ts");',
      'let l: typeof import("./l.ts");',
    ].join("\n");
    const read = readImports(text, "x/y.ts").map((found) => `${found.file}${found.typeOnly ? " type" : ""}`);
    expect(read.sort()).toEqual(
      [
        ...["x/a.ts type", "x/b.ts type", "x/d.ts", "e.ts", "x/g.ts", "x/h.ts", "x/i.ts type"],
        ...["x/j.ts", "x/k.ts", "x/l.ts type"],
      ].sort(),
    );
  });

  it.each<[string, (sources: SourceFile[]) => string[], SourceFile[], RegExp]>([
    [
      "the door reaching into the engine",
      findLayerBreaks,
      [source("worker/http/app.ts", 'import type { X } from "../../durable-objects/conversation/conversation.ts";\n')],
      /worker\/http\/app.ts imports durable-objects\/conversation\/conversation.ts: the door may not/,
    ],
    [
      "a turn that reaches for SQL",
      findLayerBreaks,
      [source("durable-objects/conversation/turn/joins.ts", 'import { journal } from "../store/journal.ts";\n')],
      /may not import the only SQL, as a value/,
    ],
    [
      "a tool that knows the authoring API",
      findLayerBreaks,
      [source("durable-objects/tools/read.ts", 'import { useTool } from "../agent/hooks.ts";\n')],
      /the tools may not import the authoring API/,
    ],
    [
      "agents imported beside the composition root",
      findLayerBreaks,
      [source("durable-objects/agent/registry.ts", 'import { agents } from "../../worker/agents/index.ts";\n')],
      /may not import the deployer's agents/,
    ],
    [
      "pi's loop outside its one file",
      findPackageBreaks,
      [
        source(
          "durable-objects/conversation/recovery.ts",
          'import { runToolCall } from "@earendil-works/pi-agent-core";\n',
        ),
      ],
      /for durable-objects\/conversation\/turn\/loop.ts, .* only/,
    ],
    [
      "a package nobody entered",
      findPackageBreaks,
      [source("worker/http/app.ts", 'import x from "left-pad";\n')],
      /not in the table/,
    ],
    [
      "a cycle of types",
      findCycles,
      [source("a/b.ts", 'import type { C } from "./c.ts";\n'), source("a/c.ts", 'import type { B } from "./b.ts";\n')],
      /a\/b.ts -> a\/c.ts -> a\/b.ts is a cycle/,
    ],
    [
      "a tool that is not listed",
      findUnlistedMembers,
      [source("durable-objects/tools/index.ts", ""), source("durable-objects/tools/new-tool.ts", "")],
      /new-tool.ts is not listed/,
    ],
    [
      "SQL in the object",
      findSqlOutsideStore,
      [source("durable-objects/conversation/admission.ts", 'sql("SELECT a FROM b");\n')],
      /admission.ts:1 holds SQL/,
    ],
    ["a file too long", findSizeBreaks, [source("a/b.ts", "\n".repeat(401))], /split it/],
    ["a long file without a reason", findSizeBreaks, [source("a/b.ts", "\n".repeat(301))], /must hold a reason/],
    ["a drawer", findNameBreaks, [source("worker/http/utils.ts", "")], /says nothing/],
    ["a name in camel-case", findNameBreaks, [source("worker/http/authCheck.ts", "")], /kebab-case/],
    ["a barrel", findNameBreaks, [source("worker/http/index.ts", "")], /no catalogue/],
    ["a file without a purpose", findMissingHeaders, [source("a/b.ts", "export {};\n")], /does not open/],
  ])("catches %s", (_what, find, sources, sentence) => {
    expect(find(sources).join("\n")).toMatch(sentence);
  });

  it("measures a script of any language that names its interpreter, under a name without an extension too", () => {
    const root = mkdtempSync(path.join(tmpdir(), "berth-architecture-"));
    const put = (file: string, text: string) => writeFileSync(path.join(root, file), text);
    mkdirSync(path.join(root, "containers/image"), { recursive: true });
    put("containers/image/long-script", `#!/usr/bin/env bash\n# Does all there is to do.\n${":\n".repeat(399)}`);
    put("containers/image/other-script", "#!/usr/bin/env python3\n");
    put("containers/image/Dockerfile", "\n".repeat(500));
    put("vitest.config.ts", "/** Nothing. */\n");
    const found = readSourceFiles(root);
    rmSync(root, { recursive: true });
    expect(found.map(({ path }) => path)).toEqual([
      "containers/image/long-script",
      "containers/image/other-script",
      "vitest.config.ts",
    ]);
    expect(findSizeBreaks(found)[0]).toBe("containers/image/long-script has 401 lines, more than 400: split it.");
    expect(findNameBreaks(found)).toEqual([]);
    expect(findMissingHeaders(found)).toEqual([expect.stringContaining("containers/image/other-script does not open")]);
  });

  it("finds every room and edge of the table under a known name", () => {
    const rooms = ROOMS.map((room) => room.path);
    expect(ROOMS.flatMap((room) => room.may.map((edge) => edge.to)).filter((to) => !rooms.includes(to))).toEqual([]);
    expect(new Set(CATALOGUES).size).toBe(CATALOGUES.length);
  });
});
