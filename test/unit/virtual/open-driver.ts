/** A virtual driver over SQLite in memory, for the tests of this folder. */

import type { SandboxDriver } from "../../../containers/driver.ts";
import { virtualDriver } from "../../../containers/drivers/virtual/virtual-driver.ts";
import type { FileStore } from "../../../containers/file-store.ts";
import type { ExecOptions, ExecResult } from "../../../containers/sandbox.ts";
import type { Database } from "../../../durable-objects/conversation/store/database.ts";
import { createFileStore, FILES_SCHEMA } from "../../../durable-objects/conversation/store/files.ts";
import { systemClock, systemTimers } from "../../../durable-objects/protocol/clock.ts";
import { nodeDatabase } from "../node-database.ts";

export interface OpenDriver {
  db: Database;
  files: FileStore;
  driver: SandboxDriver;
  /** In `/workspace` unless told otherwise. */
  run(command: string, options?: ExecOptions): Promise<ExecResult>;
  /** What a command prints, which must succeed. */
  print(command: string, options?: ExecOptions): Promise<string>;
}

export function emptyDatabase(): Database {
  const db = nodeDatabase();
  for (const statement of FILES_SCHEMA) db.run(statement);
  return db;
}

/** Over the same database this is what a restart of the object makes. */
export function openDriver(db: Database = emptyDatabase()): OpenDriver {
  const files = createFileStore(db);
  const driver = virtualDriver(files, { clock: systemClock, timers: systemTimers, env: {} });
  const run = (command: string, options: ExecOptions = {}): Promise<ExecResult> => {
    const { cwd = "/workspace", env, timeoutMs, signal, key } = options;
    return driver.exec(command, { cwd, env, timeoutMs, signal, key });
  };
  const print = async (command: string, options?: ExecOptions): Promise<string> => {
    const { stdout, stderr, exitCode } = await run(command, options);
    if (exitCode !== 0) throw new Error(`${command}: exit ${exitCode}\n${stderr}`);
    return stdout;
  };
  return { db, files, driver, run, print };
}

/** Rows that nothing leads to; empty in a sound store. */
export function orphansOf(db: Database): unknown[] {
  return [
    ...db.all(`SELECT ino FROM file_inodes WHERE ino <> 1 AND ino NOT IN (SELECT ino FROM file_entries)`),
    ...db.all(`SELECT directory, name FROM file_entries WHERE ino NOT IN (SELECT ino FROM file_inodes)`),
    ...db.all(`SELECT directory, name FROM file_entries WHERE directory NOT IN (SELECT ino FROM file_inodes)`),
    ...db.all(`SELECT ino FROM file_chunks WHERE ino NOT IN (SELECT ino FROM file_inodes)`),
    ...db.all(
      `SELECT i.ino, i.links FROM file_inodes i
       WHERE i.ino <> 1 AND i.links <> (SELECT count(*) FROM file_entries e WHERE e.ino = i.ino)`,
    ),
  ];
}
