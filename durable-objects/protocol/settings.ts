/**
 * The deployment's settings after parsing: what `worker/config.ts` makes of variables, secrets and bindings, and what
 * the engine and the door are given. Frozen; nothing below reads the environment.
 *
 * Source: contract RUNTIME 9, 1.13.
 */

export type SandboxKind = "virtual" | "cloudflare" | "container" | "local" | "none";

export interface ProviderSettings {
  apiKey?: string;
  baseUrl?: string;
}

export interface Settings {
  /** `provider/model` of agents that name none. */
  model: string;
  /** Tokens, for models the catalogue does not know. */
  contextWindow: number;
  maxTokens: number;
  anthropic: ProviderSettings;
  openai: ProviderSettings;
  /** The Workers AI binding, where the deployment has one. */
  ai?: unknown;
  sandbox: SandboxKind;
  /** The process behind `local()`, where there is one. */
  local?: LocalSettings;
  auth: AuthSettings;
}

export interface LocalSettings {
  /** A loopback address. */
  url: string;
  token: string;
}

export interface AuthSettings {
  /** Static bearer tokens with full access; empty = none configured. */
  tokens: readonly string[];
  /**
   * The flag `BERTH_DEV_OPEN` is set: requests to a loopback host need no token and errors carry `dev`. Only `npm start`
   * passes it; a deployed Worker is never asked under a loopback name, so there it opens nothing.
   */
  openForDevelopment: boolean;
}
