/**
 * The journal: the append-only log of a conversation, the only way anything becomes visible (J3).
 *
 * Owns the table `record`. A record's `seq` is its batch number on the wire; numbers grow and are never reused (J1),
 * because deltas are only ever deleted in the transaction that appends the record which replaces them (J2).
 * Watchers of a thread are woken after the transaction that appended to it has ended.
 */

import type { Clock } from "../../protocol/clock.ts";
import {
  type DeltaRecord,
  type DeltaSpan,
  type RecordBody,
  type RecordType,
  ROOT_THREAD,
  type SettledRecord,
  type SignalRecord,
  type StoredRecord,
} from "../../protocol/records.ts";
import type { Database } from "./database.ts";
import { spillText, unspillText } from "./spill.ts";

type RecordRow = {
  seq: number;
  at: number;
  type: string;
  thread: string;
  submission_id: string | null;
  tool_call_id: string | null;
  body: string;
};

const COLUMNS = "seq, at, type, thread, submission_id, tool_call_id, body";

/** What the transcript of the model never needs. */
const HINT_TYPES: readonly RecordType[] = [
  ...(["delta", "response_started", "tool_started", "tool_intent", "tool_step"] as const),
  ...(["data", "metadata", "agent_start_run", "agent_finish_cycle"] as const),
];

export class Journal {
  readonly #db: Database;
  readonly #clock: Clock;
  readonly #watchers = new Map<string, Set<() => void>>();
  readonly #waking = new Set<string>();

  constructor(db: Database, clock: Clock) {
    this.#db = db;
    this.#clock = clock;
  }

  /** Number of the last record; 0 before the first. */
  head(): number {
    return this.#db.all<{ head: number | null }>("SELECT MAX(seq) AS head FROM record")[0]?.head ?? 0;
  }

  /** Number of the last record of a thread; 0 before the first. */
  headOf(thread: string): number {
    const sql = "SELECT seq FROM record WHERE thread = ? ORDER BY seq DESC LIMIT 1";
    return this.#db.all<{ seq: number }>(sql, thread)[0]?.seq ?? 0;
  }

  /** A body that names the deltas it stands for takes their place in the same transaction. */
  append<B extends RecordBody>(thread: string, body: B): StoredRecord<B> {
    const at = this.#clock.now();
    const { type, ...rest } = body;
    const fields: Record<string, unknown> = rest;
    const { submissionId = null, toolCallId = null, ...stored } = fields;
    const text = JSON.stringify(stored);
    const seq = this.#db.transaction(() => {
      const next = this.head() + 1;
      this.#db.run(
        `INSERT INTO record (${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?)`,
        next,
        at,
        type,
        thread,
        submissionId as string | null,
        toolCallId as string | null,
        spillText(this.#db, `record:${next}`, text),
      );
      // Only now, with a higher number in place, may the deltas go: the numbers stay theirs for ever (J1, J2).
      if ("deltas" in body && body.deltas) this.#dropDeltas(thread, body.deltas);
      return next;
    });
    this.#wakeSoon(thread);
    return { seq, at, thread, body };
  }

  /** Up to `limit` records of a thread with `seq` in (`after`, `upTo`], in order. */
  read(thread: string, after: number, limit: number, upTo = Number.MAX_SAFE_INTEGER): StoredRecord[] {
    return this.#rows(
      `SELECT ${COLUMNS} FROM record WHERE seq > ? AND seq <= ? AND thread = ? ORDER BY seq LIMIT ?`,
      after,
      upTo,
      thread,
      limit,
    );
  }

  readAt(thread: string, seq: number): StoredRecord | undefined {
    return this.read(thread, seq - 1, 1, seq)[0];
  }

  /** The last record of a type with a number between `after` and `before`. */
  readLastOf(thread: string, type: RecordType, after: number, before: number): StoredRecord | undefined {
    const sql = `SELECT ${COLUMNS} FROM record WHERE seq > ? AND seq < ? AND thread = ? AND type = ?
      ORDER BY seq DESC LIMIT 1`;
    return this.#rows(sql, after, before, thread, type)[0];
  }

  /** Everything a submission recorded, from its first record on; only its own. */
  readSubmission(
    thread: string,
    submissionId: string,
    fromSeq: number,
    upTo = Number.MAX_SAFE_INTEGER,
  ): StoredRecord[] {
    return this.#rows(
      `SELECT ${COLUMNS} FROM record WHERE seq >= ? AND seq <= ? AND thread = ? AND submission_id = ? ORDER BY seq`,
      fromSeq,
      upTo,
      thread,
      submissionId,
    );
  }

  /** What the model's transcript is made of. */
  readTranscript(thread: string, after: number): StoredRecord[] {
    const hints = HINT_TYPES.map((type) => `'${type}'`).join(", ");
    return this.#rows(
      `SELECT ${COLUMNS} FROM record WHERE seq > ? AND thread = ? AND type NOT IN (${hints}) ORDER BY seq`,
      after,
      thread,
    );
  }

  /** The threads beside the root's that a submission wrote, the oldest first. */
  readThreads(submissionId: string, fromSeq: number): string[] {
    const sql = `SELECT thread, MIN(seq) AS first FROM record
      WHERE seq >= ? AND submission_id = ? AND thread <> '${ROOT_THREAD}' GROUP BY thread ORDER BY first`;
    return this.#db.all<{ thread: string }>(sql, fromSeq, submissionId).map((row) => row.thread);
  }

  /** The terminal record of a submission. */
  readSettled(submissionId: string): StoredRecord<SettledRecord> | undefined {
    const sql = `SELECT ${COLUMNS} FROM record WHERE submission_id = ? AND type = 'settled'`;
    return this.#rows(sql, submissionId)[0] as StoredRecord<SettledRecord> | undefined;
  }

  /** Number of the first record that shows something of a submission's response. */
  readFirstOfResponse(thread: string, submissionId: string, afterSeq: number): number | undefined {
    const sql = `SELECT seq FROM record WHERE seq > ? AND thread = ? AND submission_id = ?
      AND type IN ('delta', 'response_started', 'assistant', 'assistant_discarded') ORDER BY seq LIMIT 1`;
    return this.#db.all<{ seq: number }>(sql, afterSeq, thread, submissionId)[0]?.seq;
  }

  /** The first piece of the step that a submission is writing. */
  readFirstDelta(thread: string, submissionId: string, fromSeq: number): StoredRecord<DeltaRecord> | undefined {
    const sql = `SELECT ${COLUMNS} FROM record WHERE seq >= ? AND submission_id = ? AND thread = ? AND type = 'delta'
      ORDER BY seq LIMIT 1`;
    return this.#rows(sql, fromSeq, submissionId, thread)[0] as StoredRecord<DeltaRecord> | undefined;
  }

  /** Whether the start callbacks of a message have run. */
  hasStartRun(submissionId: string): boolean {
    const sql = "SELECT 1 AS found FROM record WHERE submission_id = ? AND type = 'agent_start_run'";
    return this.#db.all(sql, submissionId).length > 0;
  }

  /** The last signal that an event hook appended to a submission's response. */
  readLastAppended(thread: string, submissionId: string, fromSeq: number): StoredRecord<SignalRecord> | undefined {
    const sql = `SELECT ${COLUMNS} FROM record WHERE seq >= ? AND submission_id = ? AND thread = ? AND type = 'signal'
      ORDER BY seq DESC`;
    const signals = this.#rows(sql, fromSeq, submissionId, thread) as StoredRecord<SignalRecord>[];
    return signals.find((signal) => signal.body.appendedBy !== undefined);
  }

  /** Up to `limit` records of a thread with `seq` below `before`, the newest first. */
  readBack(thread: string, before: number, limit: number): StoredRecord[] {
    return this.#rows(
      `SELECT ${COLUMNS} FROM record WHERE seq < ? AND thread = ? ORDER BY seq DESC LIMIT ?`,
      before,
      thread,
      limit,
    );
  }

  hasToolCall(toolCallId: string): boolean {
    const found = this.#db.all(
      "SELECT 1 AS found FROM record WHERE tool_call_id = ? AND type = 'tool_started'",
      toolCallId,
    );
    return found.length > 0;
  }

  hasToolCallSince(seq: number): boolean {
    return (
      this.#db.all("SELECT 1 AS found FROM record WHERE seq > ? AND type = 'tool_started' LIMIT 1", seq).length > 0
    );
  }

  /** Whether something was completed that a new attempt will find: a step or a result of the thread. */
  hasProgressSince(thread: string, seq: number): boolean {
    const found = this.#db.all(
      "SELECT 1 AS found FROM record WHERE seq > ? AND thread = ? AND type IN ('assistant', 'tool_result') LIMIT 1",
      seq,
      thread,
    );
    return found.length > 0;
  }

  /** Calls `wake` after every append to the thread, until the returned function is called. */
  watch(thread: string, wake: () => void): () => void {
    const watchers = this.#watchers.get(thread) ?? new Set();
    this.#watchers.set(thread, watchers.add(wake));
    return () => {
      watchers.delete(wake);
    };
  }

  wakeAll(): void {
    for (const thread of this.#watchers.keys()) this.#wake(thread);
  }

  /** Whether somebody follows the thread right now. */
  isWatched(thread: string): boolean {
    return (this.#watchers.get(thread)?.size ?? 0) > 0;
  }

  #dropDeltas(thread: string, span: DeltaSpan): void {
    this.#db.run(
      "DELETE FROM record WHERE seq BETWEEN ? AND ? AND type = 'delta' AND thread = ?",
      span.firstSeq,
      span.lastSeq,
      thread,
    );
  }

  #wakeSoon(thread: string): void {
    if (this.#waking.has(thread) || !this.isWatched(thread)) return;
    this.#waking.add(thread);
    queueMicrotask(() => {
      this.#waking.delete(thread);
      this.#wake(thread);
    });
  }

  #wake(thread: string): void {
    for (const wake of [...(this.#watchers.get(thread) ?? [])]) wake();
  }

  #rows(sql: string, ...params: (string | number)[]): StoredRecord[] {
    return this.#db.all<RecordRow>(sql, ...params).map((row) => {
      const fields = JSON.parse(unspillText(this.#db, `record:${row.seq}`, row.body)) as Record<string, unknown>;
      if (row.submission_id !== null) fields.submissionId = row.submission_id;
      if (row.tool_call_id !== null) fields.toolCallId = row.tool_call_id;
      // The row was written by `append` from a RecordBody; nothing else writes this table.
      const body = { type: row.type, ...fields } as RecordBody;
      return { seq: row.seq, at: row.at, thread: row.thread, body };
    });
  }
}
