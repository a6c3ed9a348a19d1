/**
 * The harness: the agent's environment and its model, for the code of one invocation (a tool with `harness: true`, a
 * hook's callback). It lives as long as that invocation does.
 *
 * Source: contract RUNTIME 4 ("Harness", "Programmatic shell"), TOOLS 14.4.
 */
import type { Static, TSchema } from "@sinclair/typebox";
import type { Sandbox } from "../../containers/sandbox.ts";
import type { ThinkingLevel } from "./thinking-level.ts";
import type { ToolDefinition } from "./tool-definition.ts";

export interface Harness {
  /** The tool or hook it was given to. */
  readonly name: string;

  /**
   * Asks the model in a scratch conversation of the harness's own: the agent's instructions and tools, a history that
   * starts empty and goes on from prompt to prompt. Clients never see it.
   *
   * With `result` the model must hand in data that fits the schema. Rejects with a `BerthError`: `result_unavailable` when
   * it gives up or does not, `session_busy` while another operation of this harness runs, a provider's fault by its own
   * code; with an `AbortError` when it is aborted.
   *
   * @example
   * ```ts
   * useTool({
   *   name: "triage",
   *   description: "Judge how urgent a report is.",
   *   input: Type.Object({ report: Type.String() }),
   *   harness: true,
   *   async run({ data, harness }) {
   *     const { data: verdict } = await harness.prompt(`How urgent is this?\n\n${data.report}`, {
   *       result: Type.Object({ urgent: Type.Boolean(), reason: Type.String() }),
   *     });
   *     return { output: verdict };
   *   },
   * });
   * ```
   */
  prompt<Schema extends TSchema>(
    text: string,
    options: PromptOptions & { result: Schema },
  ): CallHandle<PromptResultResponse<Static<Schema>>>;
  prompt(text: string, options?: PromptOptions & { result?: never }): CallHandle<PromptResponse>;

  /** Summarises the scratch conversation now. Nothing happens where there is nothing to summarise; a failure rejects. */
  compact(): Promise<void>;

  /** The agent's sandbox as it is mounted now; throws where it has none. What is done with it is not recorded. */
  readonly sandbox: Sandbox;

  /**
   * Runs a command in the sandbox, once, and records it in the scratch conversation, where later prompts see it. A command
   * that fails is an ordinary result.
   *
   * @example `const { text } = await harness.shell("npm test", { cwd: "app", timeoutMs: 60_000 });`
   */
  shell(command: string, options?: ShellOptions): Promise<ShellResult>;
}

/** A running prompt: awaited like any promise, and aborted by its owner. */
export interface CallHandle<T> extends Promise<T> {
  /** Fires when the call is aborted, whoever does it. */
  readonly signal: AbortSignal;
  /** The awaited value rejects with an `AbortError` whose cause is the reason. */
  abort(reason?: unknown): void;
}

export interface PromptOptions {
  /** Schema of the data to hand in. */
  result?: TSchema;
  /** More tools, for this prompt only. */
  tools?: readonly ToolDefinition[];
  /** `provider/model`; the agent's own when absent. */
  model?: string;
  /** The agent's own when absent. */
  thinkingLevel?: ThinkingLevel;
  /** Aborts the prompt. */
  signal?: AbortSignal;
  /** Shown to the model beside the text. */
  images?: readonly PromptImage[];
}

export interface PromptImage {
  type: "image";
  /** Base64. */
  data: string;
  mimeType: string;
}

export interface PromptResponse {
  /** What the model said last. */
  text: string;
  usage: PromptUsage;
  model: PromptModel;
}

export interface PromptResultResponse<Data> {
  data: Data;
  usage: PromptUsage;
  model: PromptModel;
}

/** Every model step of the prompt together. */
export interface PromptUsage {
  input: number;
  output: number;
  cacheRead: number;
  cacheWrite: number;
  totalTokens: number;
  /** US dollars, from the model catalogue. */
  cost: { input: number; output: number; cacheRead: number; cacheWrite: number; total: number };
}

export interface PromptModel {
  provider: string;
  id: string;
}

export interface ShellOptions {
  /** Relative paths resolve against the sandbox's `cwd`. */
  cwd?: string;
  /** Layered over the sandbox's own; the values are not recorded. */
  env?: Record<string, string>;
  /** An expiry is an ordinary result with exit code 124. */
  timeoutMs?: number;
  signal?: AbortSignal;
}

/** The bash tool's result: the end of the output as a model reads it, and how the command ended. */
export interface ShellResult {
  text: string;
  details: { command: string; exitCode: number };
}
