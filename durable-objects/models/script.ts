/**
 * Scripts for `scripted/test` and `scripted/test-<name>`: turns, used up in order, one a request.
 *
 * Owns the registered scripts of this process; tests register them, each under a name of its own where they share one.
 *
 * Source: contract RUNTIME 9.
 */
import type { Message } from "@earendil-works/pi-ai";
import type { ScriptedTurn } from "./scripted-stream.ts";

export type ScriptEntry = ScriptedTurn | ((messages: readonly Message[]) => ScriptedTurn);

const scripts = new Map<string, ScriptEntry[]>();

/** Replaces the script of a model id. What is left of an earlier one is dropped. */
export function registerScript(modelId: string, turns: readonly ScriptEntry[]): void {
  scripts.set(modelId, [...turns]);
}

/** The next turn; throws when the script is used up, which fails the response. */
export function nextScriptedTurn(modelId: string, messages: readonly Message[]): ScriptedTurn {
  const entry = scripts.get(modelId)?.shift();
  if (entry === undefined) throw new Error(`The script of scripted/${modelId} is used up.`);
  return typeof entry === "function" ? entry(messages) : entry;
}
