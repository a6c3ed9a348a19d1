/**
 * A write that a crash may cut: what it is about to do is noted before it, so that the same call, run again, can tell
 * whether it was done. The file's lock is held from the note to the write.
 *
 * Without notes (a tool outside a conversation) it is a plain write.
 *
 * Source: contract RUNTIME 2.6 (`reconcile`).
 */
import { createHash } from "node:crypto";
import type { Sandbox } from "../../containers/sandbox.ts";
import { INTERRUPTED_RESULT } from "../protocol/interrupted.ts";
import type { ToolOutput } from "./define-tool.ts";

export interface WriteIntent {
  path: string;
  /** SHA-256 of the file before; absent when there was none. */
  before?: string;
  /** SHA-256 of the content to come. */
  after: string;
  /** What the call gives once it is done. */
  result: ToolOutput;
}

/** Where intents are kept: durable before `record` returns. */
export interface IntentNotes {
  /** The intent a call left before a crash. */
  find(toolCallId: string): WriteIntent | undefined;
  record(toolCallId: string, intent: WriteIntent): void;
}

export interface FileWrite {
  toolCallId: string;
  path: string;
  content: string;
  result: ToolOutput;
}

function sha256Hex(bytes: Uint8Array | string): string {
  return createHash("sha256").update(bytes).digest("hex");
}

async function hashOf(env: Sandbox, path: string): Promise<string | undefined> {
  try {
    return sha256Hex(await env.readFileBuffer(path));
  } catch {
    return undefined;
  }
}

/**
 * What came of the call before a crash: its result when the write is done, nothing when it is still to be done. Throws
 * the unknown-outcome text when the file is neither as it was nor as it was to be.
 */
export async function findEarlierWrite(
  env: Sandbox,
  toolCallId: string,
  notes: IntentNotes | undefined,
): Promise<ToolOutput | undefined> {
  const intent = notes?.find(toolCallId);
  if (!intent) return undefined;
  const now = await hashOf(env, intent.path);
  if (now === intent.after) return intent.result;
  if (now === intent.before) return undefined;
  throw new Error(INTERRUPTED_RESULT);
}

export async function writeNoted(env: Sandbox, write: FileWrite, notes: IntentNotes | undefined): Promise<ToolOutput> {
  const { toolCallId, path, content, result } = write;
  if (notes) {
    const before = await hashOf(env, path);
    // A lone surrogate becomes U+FFFD in the file, as it does here.
    const after = sha256Hex(content.toWellFormed());
    notes.record(toolCallId, { path, ...(before !== undefined && { before }), after, result });
  }
  await env.writeFile(path, content);
  return result;
}
