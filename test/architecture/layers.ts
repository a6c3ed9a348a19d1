/**
 * The rooms of the code base and what each may import, as data. `architecture.test.ts` holds the code to it.
 *
 * A file belongs to the room with the longest matching path. A room may always import itself. What is not in the table
 * is forbidden; to open a door, add an edge here and say why in the commit.
 */

export interface Edge {
  to: string;
  /** Only `import type`: shapes may be shared where behaviour may not. */
  typesOnly?: true;
  /** Only these files of the room, by name. */
  files?: readonly string[];
}

export interface Room {
  /** Folder or file, from the project's root. */
  path: string;
  /** For what the room stands, as it reads in a broken rule's sentence. */
  role: string;
  may: readonly Edge[];
}

const PROTOCOL: Edge = { to: "durable-objects/protocol" };
const CONTAINERS: Edge = { to: "containers" };
const MODELS: Edge = { to: "durable-objects/models" };
const SKILLS: Edge = { to: "durable-objects/skills" };
const TOOLS: Edge = { to: "durable-objects/tools" };
const PROMPT: Edge = { to: "durable-objects/prompt" };
const AGENT: Edge = { to: "durable-objects/agent" };
const STORE: Edge = { to: "durable-objects/conversation/store" };
const RECOVERY: Edge = { to: "durable-objects/conversation/recovery" };
const PROJECTION: Edge = { to: "durable-objects/conversation/projection" };
const TURN: Edge = { to: "durable-objects/conversation/turn" };
const HOW_TOOLS_ARE_DECLARED: Edge = { ...TOOLS, files: ["define-tool.ts"] };

export const ROOMS: readonly Room[] = [
  { path: "durable-objects/protocol", role: "the words of the system, below everything", may: [] },
  { path: "containers", role: "the hands", may: [PROTOCOL] },

  { path: "durable-objects/models", role: "the providers", may: [PROTOCOL, { ...AGENT, typesOnly: true }] },
  { path: "durable-objects/skills", role: "the skills", may: [PROTOCOL, CONTAINERS] },
  { path: "durable-objects/tools", role: "the tools", may: [PROTOCOL, CONTAINERS, SKILLS] },
  {
    path: "durable-objects/agent",
    role: "the authoring API",
    may: [
      ...[PROTOCOL, CONTAINERS, SKILLS, HOW_TOOLS_ARE_DECLARED],
      // Authors compose the built-in tools in a factory's `tools`; the names the framework keeps are refused here.
      { ...TOOLS, files: ["index.ts", "reserved-names.ts"] },
    ],
  },
  {
    path: "durable-objects/prompt",
    role: "the prompt",
    may: [PROTOCOL, CONTAINERS, SKILLS, { ...AGENT, typesOnly: true }, { ...TOOLS, typesOnly: true }],
  },

  {
    path: "durable-objects/conversation",
    role: "the engine",
    may: [...[PROTOCOL, CONTAINERS, MODELS, SKILLS, TOOLS, PROMPT, AGENT], ...[STORE, RECOVERY, PROJECTION, TURN]],
  },
  { path: "durable-objects/conversation/recovery", role: "what records say of a submission", may: [PROTOCOL] },
  {
    path: "durable-objects/conversation/projection",
    role: "what readers are shown",
    may: [PROTOCOL, { ...RECOVERY, typesOnly: true }],
  },
  {
    path: "durable-objects/conversation/store",
    role: "the only SQL",
    may: [PROTOCOL, { ...CONTAINERS, typesOnly: true }, { ...SKILLS, typesOnly: true }],
  },
  {
    path: "durable-objects/conversation/turn",
    role: "one attempt, which knows ports and no SQL",
    may: [...[PROTOCOL, CONTAINERS, MODELS, SKILLS, TOOLS, PROMPT, AGENT], RECOVERY],
  },

  {
    path: "worker/http",
    role: "the door",
    may: [
      PROTOCOL,
      // The roster it serves, and which secret a model lacks.
      { ...AGENT, typesOnly: true, files: ["registry.ts"] },
      { ...MODELS, files: ["resolve-model.ts"] },
    ],
  },
  { path: "worker/hooks", role: "the webhooks", may: [PROTOCOL, { to: "worker/http" }] },
  { path: "worker/config.ts", role: "the settings", may: [PROTOCOL] },
  {
    path: "worker/agents",
    role: "the deployer's agents",
    may: [AGENT, CONTAINERS, HOW_TOOLS_ARE_DECLARED, { ...MODELS, typesOnly: true }, { ...PROTOCOL, typesOnly: true }],
  },
  { path: "worker/cli", role: "the command line, which runs before anything is installed", may: [] },
  {
    path: "worker/compose.ts",
    role: "what a deployment is put together from",
    may: [
      ...[PROTOCOL, CONTAINERS, AGENT],
      // The object's class and what it is built with; never a store or a turn.
      { to: "durable-objects/conversation" },
      ...[{ to: "worker/http" }, { to: "worker/hooks" }, { to: "worker/config.ts" }],
    ],
  },
  {
    path: "worker/index.ts",
    role: "the composition root",
    may: [CONTAINERS, { to: "worker/compose.ts" }, { to: "worker/agents" }],
  },
];

/** Paths the table does not judge: tests may look at everything. */
export const FREE_ROOMS: readonly string[] = ["test", "vitest.config.ts"];

export interface PackageRule {
  name: string;
  /** Where its values may be imported; elsewhere only its types, if at all. */
  values: readonly string[];
  /** Where its types may be imported besides. */
  types: readonly string[];
}

/** Every package the product leans on. A new dependency enters here with the place that may use it. */
export const PACKAGES: readonly PackageRule[] = [
  {
    name: "@earendil-works/pi-agent-core",
    // The loop, and one call of it again where a crash left it open.
    values: ["durable-objects/conversation/turn/loop.ts", "durable-objects/conversation/turn/resume-calls.ts"],
    types: ["durable-objects", "containers/sandbox.ts"],
  },
  { name: "@earendil-works/pi-ai", values: ["durable-objects/models"], types: ["durable-objects"] },
  {
    name: "@sinclair/typebox",
    values: ["durable-objects", "worker/http", "worker/hooks", "worker/config.ts", "worker/agents"],
    types: [],
  },
  { name: "hono", values: ["worker/http", "worker/hooks"], types: [] },
  { name: "yaml", values: ["durable-objects/skills/front-matter.ts"], types: [] },
  { name: "just-bash", values: ["containers"], types: [] },
  { name: "@cloudflare/sandbox", values: ["containers/drivers", "worker/index.ts"], types: [] },
  {
    name: "cloudflare",
    values: ["durable-objects/conversation", "containers/container-object.ts", "worker/compose.ts"],
    types: [],
  },
  { name: "node", values: ["worker/cli", "containers", "durable-objects", "worker/http", "worker/hooks"], types: [] },
];

/** Folders of small values, one file each: every file is reached from the folder's `index.ts`. */
export const CATALOGUES: readonly string[] = [
  "durable-objects/tools",
  "containers/drivers",
  "worker/agents",
  "worker/http/routes",
  "worker/hooks",
  "durable-objects/prompt",
  "durable-objects/models",
];

/** Files that stand beside a catalogue's members and use or serve it, rather than being listed in it. */
export const BESIDE_CATALOGUES: readonly string[] = [
  "durable-objects/tools/abandon-on-abort.ts",
  "durable-objects/prompt/compose.ts",
  "durable-objects/prompt/discovery.ts",
  "durable-objects/prompt/drift.ts",
  "durable-objects/prompt/environment-change.ts",
  "durable-objects/prompt/skill-discovery.ts",
  "durable-objects/prompt/surface.ts",
  "durable-objects/models/ask-once.ts",
  "durable-objects/models/image-refusal.ts",
  "durable-objects/models/omit-images.ts",
  "durable-objects/models/provider-fault.ts",
  "durable-objects/models/provider-messages.ts",
  "durable-objects/models/resolve-model.ts",
  "durable-objects/models/silence.ts",
];

/** An `index.ts` is a catalogue, the composition root, the one door of the authoring API, or a test's own list. */
export const OTHER_INDEX_FILES: readonly string[] = [
  "worker/index.ts",
  "durable-objects/agent/index.ts",
  "test/contract/drivers/index.ts",
];

export const SQL_ROOM = "durable-objects/conversation/store";

export const MAX_LINES = 400;
export const LINES_THAT_NEED_A_REASON = 300;

/** Files above the lower bound, and why they are better whole. */
export const LONG_FILES: Readonly<Record<string, string>> = {
  "containers/image/berth-exec":
    "one plain file: it is copied into images and sent into machines that have nothing of ours",
};

export const FORBIDDEN_NAMES: readonly string[] = ["utils", "helpers", "common", "types", "misc", "shared"];
