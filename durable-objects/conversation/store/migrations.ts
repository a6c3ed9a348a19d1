/**
 * The conversation's schema as a numbered map: an entry, once shipped, is never changed; the next change is the next
 * number. A database carries the number of the last entry it has seen.
 *
 * A conversation that was never contacted has no table at all: reading it must not make one.
 */
import type { Database } from "./database.ts";
import { FILES_SCHEMA } from "./files.ts";
import { STATE_SCHEMA } from "./state.ts";

const MIGRATIONS: Readonly<Record<number, readonly string[]>> = {
  1: [
    `CREATE TABLE instance (
       key TEXT PRIMARY KEY,
       value TEXT NOT NULL
     ) STRICT, WITHOUT ROWID`,
    `CREATE TABLE record (
       seq INTEGER PRIMARY KEY,
       at INTEGER NOT NULL,
       type TEXT NOT NULL,
       thread TEXT NOT NULL,
       submission_id TEXT,
       tool_call_id TEXT,
       body TEXT NOT NULL
     ) STRICT`,
    // Q3: one terminal record a submission.
    `CREATE UNIQUE INDEX record_settled ON record (submission_id) WHERE type = 'settled'`,
    // T2 and the exec key: one call id names one execution, for ever.
    `CREATE UNIQUE INDEX record_tool_started ON record (tool_call_id) WHERE type = 'tool_started'`,
    `CREATE TABLE submission (
       seq INTEGER PRIMARY KEY,
       id TEXT NOT NULL UNIQUE,
       state TEXT NOT NULL,
       input TEXT,
       accepted_at INTEGER NOT NULL,
       offset_seq INTEGER NOT NULL,
       attempt INTEGER NOT NULL DEFAULT 0,
       attempt_seq INTEGER NOT NULL DEFAULT 0,
       fruitless_attempts INTEGER NOT NULL DEFAULT 0,
       provider_retries INTEGER NOT NULL DEFAULT 0,
       input_seq INTEGER,
       started_at INTEGER,
       deadline_at INTEGER,
       resume_at INTEGER,
       abort_at INTEGER,
       settled_at INTEGER,
       outcome TEXT,
       usage TEXT,
       trace TEXT,
       subject TEXT
     ) STRICT`,
    // Q1: at most one running submission.
    `CREATE UNIQUE INDEX submission_running ON submission (state) WHERE state = 'running'`,
    `CREATE INDEX submission_unsettled ON submission (seq) WHERE state <> 'settled'`,
    `CREATE TABLE prompt (
       epoch INTEGER PRIMARY KEY,
       composed_at INTEGER NOT NULL,
       sha256 TEXT NOT NULL,
       text TEXT NOT NULL
     ) STRICT`,
    `CREATE TABLE spill (
       owner TEXT NOT NULL,
       part INTEGER NOT NULL,
       text TEXT NOT NULL,
       PRIMARY KEY (owner, part)
     ) STRICT, WITHOUT ROWID`,
    ...FILES_SCHEMA,
  ],
  2: [
    "ALTER TABLE submission ADD COLUMN joined_into TEXT",
    // SHA-256 of what a keyed send stands for; a repeat must be the same.
    "ALTER TABLE submission ADD COLUMN identity TEXT",
    `CREATE INDEX submission_joined ON submission (joined_into) WHERE state = 'joined'`,
    `CREATE TABLE attachment (
       id TEXT PRIMARY KEY,
       mime_type TEXT NOT NULL,
       size INTEGER NOT NULL
     ) STRICT, WITHOUT ROWID`,
    `CREATE TABLE attachment_part (
       id TEXT NOT NULL,
       part INTEGER NOT NULL,
       bytes BLOB NOT NULL,
       PRIMARY KEY (id, part)
     ) STRICT, WITHOUT ROWID`,
  ],
  3: [
    // Whether any tool has run since a record, at a cost that does not grow with what was said.
    "CREATE INDEX record_tool_started_seq ON record (seq) WHERE type = 'tool_started'",
    ...STATE_SCHEMA,
    // The start callbacks of a delivered message take effect once, in whatever response the message is.
    `CREATE UNIQUE INDEX record_agent_start_run ON record (submission_id) WHERE type = 'agent_start_run'`,
  ],
  4: [
    // The record of the compaction that the epoch came with: a transcript begins there.
    "ALTER TABLE prompt ADD COLUMN compaction_seq INTEGER",
  ],
};

const VERSION_KEY = "schema_version";

/** Number of the last entry. */
export const SCHEMA_VERSION = Math.max(...Object.keys(MIGRATIONS).map(Number));

/** 0 = nothing was ever written here. */
export function readSchemaVersion(db: Database): number {
  const tables = db.all("SELECT 1 AS found FROM sqlite_master WHERE type = 'table' AND name = 'instance'");
  if (tables.length === 0) return 0;
  const row = db.all<{ value: string }>("SELECT value FROM instance WHERE key = ?", VERSION_KEY)[0];
  return Number(row?.value ?? 0);
}

/** Brings the schema up to date; a database of a newer deployment is refused rather than guessed at. */
export function migrate(db: Database): void {
  const have = readSchemaVersion(db);
  if (have === SCHEMA_VERSION) return;
  if (have > SCHEMA_VERSION) {
    throw new Error(`The conversation's storage has format ${have}; this deployment knows up to ${SCHEMA_VERSION}.`);
  }
  db.transaction(() => {
    for (let version = have + 1; version <= SCHEMA_VERSION; version++) {
      for (const statement of MIGRATIONS[version] ?? []) db.run(statement);
    }
    db.run("INSERT OR REPLACE INTO instance (key, value) VALUES (?, ?)", VERSION_KEY, String(SCHEMA_VERSION));
  });
}
