/**
 * Runs the callbacks of `useResponseStart` or `useResponseFinish`, one after the other, and merges what they return.
 *
 * They are observers: synchronous, outside of any seam, so that nothing they could call writes.
 *
 * Source: contract RUNTIME 4.
 */

import type { ToolLog } from "../../agent/author-tool.ts";
import { createCallbackLog } from "../../agent/callback-log.ts";
import type { MetadataCallback, ResponseStartContext } from "../../agent/event-hooks.ts";
import { authoringError } from "../../agent/frame.ts";
import { toJsonValue } from "../../agent/json-value.ts";
import { type Metadata, mergeMetadata, withoutForbiddenKeys } from "../../protocol/metadata.ts";
import type { MetadataRecord, StoredRecord } from "../../protocol/records.ts";
import { isRecordOf } from "../../protocol/records.ts";
import { callbackFault } from "./callback-fault.ts";

/** What hooks have attached to the response so far. */
export function metadataOf(records: readonly StoredRecord[]): Metadata {
  return records
    .filter((record) => isRecordOf(record, "metadata"))
    .reduce((sum: Metadata, record) => mergeMetadata(sum, record.body.metadata), {});
}

export interface MetadataRun<Context extends ResponseStartContext> {
  agent: string;
  hook: "useResponseStart" | "useResponseFinish";
  callbacks: readonly MetadataCallback<Context>[];
  /** What is attached already. */
  before: Metadata;
  createContext(metadata: Metadata, log: ToolLog): Context;
}

/** The metadata the callbacks add. Throws the fault that fails the submission. */
export function collectMetadata<Context extends ResponseStartContext>(run: MetadataRun<Context>): Metadata {
  const { agent, hook, callbacks, before, createContext } = run;
  const log = createCallbackLog(agent, hook);
  return callbacks.reduce((added: Metadata, callback) => {
    const context = createContext(structuredClone(mergeMetadata(before, added)), log);
    return mergeMetadata(
      added,
      parseReturned(
        agent,
        hook,
        call(agent, hook, () => callback(context)),
      ),
    );
  }, {});
}

function call(agent: string, hook: string, callback: () => unknown): unknown {
  try {
    return callback();
  } catch (error) {
    throw callbackFault(agent, hook, error);
  }
}

function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== "object" || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

function parseReturned(agent: string, hook: string, returned: unknown): MetadataRecord["metadata"] {
  if (returned === undefined) return {};
  if (returned instanceof Promise) {
    // Its own fault would surface as an unhandled rejection beside the error below.
    returned.then(undefined, () => {});
    throw authoringError(agent, `misused ${hook}(): the callback returned a promise. It must be synchronous.`);
  }
  const refuse = (what: string) => authoringError(agent, `misused ${hook}(): the callback must return ${what}`);
  if (!isPlainObject(returned)) throw refuse("a plain object or nothing.");
  try {
    return withoutForbiddenKeys(toJsonValue(returned)) as MetadataRecord["metadata"];
  } catch (error) {
    throw refuse(`JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
}
