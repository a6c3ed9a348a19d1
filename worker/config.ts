/**
 * Every variable, secret and binding of a deployment: name, default, description. Parsed once, frozen; nothing else reads
 * the environment.
 *
 * Source: contract RUNTIME 9, 1.13.
 */
import { BerthError } from "../durable-objects/protocol/errors.ts";
import type { LocalSettings, ProviderSettings, SandboxKind, Settings } from "../durable-objects/protocol/settings.ts";

export interface Variable {
  name: string;
  kind: "variable" | "secret" | "binding";
  /** Absent: unset. */
  default?: string;
  description: string;
}

const SANDBOX_KINDS: readonly SandboxKind[] = ["virtual", "cloudflare", "container", "local", "none"];

export const VARIABLES = [
  {
    name: "BERTH_MODEL",
    kind: "variable",
    default: "scripted/demo",
    description: "Model of agents that name none, as provider/model.",
  },
  {
    name: "BERTH_CONTEXT_WINDOW",
    kind: "variable",
    default: "128000",
    description: "Tokens a model can take in, for models the catalogue does not know.",
  },
  {
    name: "BERTH_MAX_TOKENS",
    kind: "variable",
    default: "16384",
    description: "Tokens a model may answer with, for models the catalogue does not know.",
  },
  { name: "ANTHROPIC_API_KEY", kind: "secret", description: "Key for anthropic/... models." },
  {
    name: "ANTHROPIC_BASE_URL",
    kind: "variable",
    description: "Another address that speaks Anthropic's Messages API.",
  },
  {
    name: "OPENAI_API_KEY",
    kind: "secret",
    description: "Key for openai/... models and, where wanted, openai-compatible/...",
  },
  {
    name: "OPENAI_BASE_URL",
    kind: "variable",
    description: "Address of an OpenAI-compatible server (Ollama, vLLM, a gateway), with its /v1.",
  },
  { name: "AI", kind: "binding", description: "Workers AI, for cloudflare/@cf/... models." },
  {
    name: "SANDBOX",
    kind: "variable",
    default: "virtual",
    description: "What sandbox() is: virtual, cloudflare, container, local, or none.",
  },
  { name: "CONTAINERS", kind: "binding", description: "The container objects, for SANDBOX=container." },
  {
    name: "BERTH_LOCAL_URL",
    kind: "variable",
    description: "Loopback address of the process that npm run start:local starts, for SANDBOX=local.",
  },
  { name: "BERTH_LOCAL_TOKEN", kind: "secret", description: "The token of that process." },
  {
    name: "BERTH_TOKENS",
    kind: "secret",
    description: "Bearer tokens with full access, separated by commas. Without any the Worker serves nobody.",
  },
  {
    name: "BERTH_DEV_OPEN",
    kind: "variable",
    description:
      "1: requests to a loopback host need no token. Passed by npm start as --var; it opens nothing on a deployed Worker.",
  },
] as const satisfies readonly Variable[];

const VISIBLE_ASCII = /^[\x21-\x7e]+$/;

type VariableName = (typeof VARIABLES)[number]["name"];

/** The environment of a Worker: strings, and bindings that are objects. */
export type Environment = Readonly<Record<string, unknown>>;

function invalid(name: VariableName, what: string): BerthError {
  return new BerthError("runtime_unavailable", `The setting ${name} ${what}.`, {
    details: `Correct ${name} and deploy again.`,
  });
}

/** A trimmed text; blank is unset. */
function readText(env: Environment, name: VariableName): string | undefined {
  const value = env[name];
  if (value === undefined || value === null) return undefined;
  if (typeof value !== "string") throw invalid(name, "must be a text");
  return value.trim() === "" ? undefined : value.trim();
}

function readDefaulted(env: Environment, name: VariableName): string {
  const variable: Variable | undefined = VARIABLES.find((each) => each.name === name);
  return readText(env, name) ?? variable?.default ?? "";
}

function parseTokenCount(env: Environment, name: VariableName): number {
  const value = Number(readDefaulted(env, name));
  if (!Number.isSafeInteger(value) || value <= 0) throw invalid(name, "must be a whole number of tokens above 0");
  return value;
}

function parseModel(env: Environment): string {
  const spec = readDefaulted(env, "BERTH_MODEL");
  if (!/^[^/\s]+\/\S+$/.test(spec)) throw invalid("BERTH_MODEL", "must have the form provider/model");
  return spec;
}

function isSandboxKind(value: string): value is SandboxKind {
  return SANDBOX_KINDS.some((kind) => kind === value);
}

function parseSandbox(env: Environment): SandboxKind {
  const value = readDefaulted(env, "SANDBOX");
  if (!isSandboxKind(value)) throw invalid("SANDBOX", `must be one of ${SANDBOX_KINDS.join(", ")}`);
  return value;
}

function parseBaseUrl(env: Environment, name: VariableName): string | undefined {
  const value = readText(env, name);
  if (value === undefined) return undefined;
  const protocol = URL.canParse(value) ? new URL(value).protocol : "";
  if (protocol !== "http:" && protocol !== "https:") throw invalid(name, "must be an http or https address");
  return value.replace(/\/+$/, "");
}

function parseProvider(env: Environment, key: VariableName, url: VariableName): ProviderSettings {
  const provider: ProviderSettings = {};
  const apiKey = readText(env, key);
  if (apiKey !== undefined && !VISIBLE_ASCII.test(apiKey)) {
    throw invalid(key, "must hold visible ASCII characters without blanks: it is sent in a header");
  }
  const baseUrl = parseBaseUrl(env, url);
  if (apiKey !== undefined) provider.apiKey = apiKey;
  if (baseUrl !== undefined) provider.baseUrl = baseUrl;
  return Object.freeze(provider);
}

/** Commands of the machine itself: never those of another one. */
function parseLocal(env: Environment): LocalSettings | undefined {
  const url = parseBaseUrl(env, "BERTH_LOCAL_URL");
  const token = readText(env, "BERTH_LOCAL_TOKEN");
  if (url === undefined || token === undefined) return undefined;
  if (!["127.0.0.1", "localhost"].includes(new URL(url).hostname)) {
    throw invalid("BERTH_LOCAL_URL", "must be a loopback address");
  }
  return Object.freeze({ url, token });
}

function parseTokens(env: Environment): readonly string[] {
  const tokens = (readText(env, "BERTH_TOKENS") ?? "")
    .split(",")
    .map((token) => token.trim())
    .filter((token) => token !== "");
  if (tokens.some((token) => !VISIBLE_ASCII.test(token))) {
    throw invalid("BERTH_TOKENS", "must hold tokens of visible ASCII characters without blanks, separated by commas");
  }
  return Object.freeze(tokens);
}

function parseFlag(env: Environment, name: VariableName): boolean {
  const value = readText(env, name);
  if (value === undefined || value === "0" || value === "false") return false;
  if (value === "1" || value === "true") return true;
  throw invalid(name, "must be 1 or 0");
}

/** Throws `runtime_unavailable`, which names the variable: a Worker that is set up wrongly serves nobody. */
export function parseSettings(env: Environment): Settings {
  const settings: Settings = {
    model: parseModel(env),
    contextWindow: parseTokenCount(env, "BERTH_CONTEXT_WINDOW"),
    maxTokens: parseTokenCount(env, "BERTH_MAX_TOKENS"),
    anthropic: parseProvider(env, "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"),
    openai: parseProvider(env, "OPENAI_API_KEY", "OPENAI_BASE_URL"),
    sandbox: parseSandbox(env),
    auth: Object.freeze({ tokens: parseTokens(env), openForDevelopment: parseFlag(env, "BERTH_DEV_OPEN") }),
  };
  const local = parseLocal(env);
  if (local !== undefined) settings.local = local;
  if (env.AI !== undefined && env.AI !== null) settings.ai = env.AI;
  return Object.freeze(settings);
}
