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
  auth: AuthSettings;
}

export interface AuthSettings {
  /** Static bearer tokens with full access; empty = none configured. */
  tokens: readonly string[];
  /** `wrangler dev` on loopback without tokens; a deployed Worker never has it. */
  openForDevelopment: boolean;
}
