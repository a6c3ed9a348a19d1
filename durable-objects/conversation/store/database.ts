/**
 * The SQL port of everything under `store/`: the object's own SQLite in the runtime, `node:sqlite` in plain Node.
 *
 * All calls are synchronous. `transaction` nests and rolls back on throw; a statement outside of one is its own.
 */

export type SqlValue = string | number | null | Uint8Array;

export interface Database {
  /** All rows; blobs are `Uint8Array`. */
  all<T extends Record<string, SqlValue>>(sql: string, ...params: SqlValue[]): T[];
  run(sql: string, ...params: SqlValue[]): void;
  /** Runs `work` whole or not at all; the work must be synchronous. */
  transaction<T>(work: () => T): T;
}

/** The port over `ctx.storage`. */
export function durableDatabase(storage: DurableObjectStorage): Database {
  return {
    all<T extends Record<string, SqlValue>>(sql: string, ...params: SqlValue[]): T[] {
      const rows = storage.sql.exec(sql, ...params).toArray();
      for (const row of rows) {
        for (const column in row) {
          const value: unknown = row[column];
          if (value instanceof ArrayBuffer) (row as Record<string, unknown>)[column] = new Uint8Array(value);
        }
      }
      // The statement and the row type stand side by side at each call; the runtime has no schema to check them with.
      return rows as unknown as T[];
    },
    run(sql, ...params) {
      storage.sql.exec(sql, ...params);
    },
    transaction: (work) => storage.transactionSync(work),
  };
}
