/** The `Database` port over `node:sqlite`, so that the engine's real SQL runs in plain Node. */
import { DatabaseSync, type StatementSync } from "node:sqlite";
import type { Database, SqlValue } from "../../durable-objects/conversation/store/database.ts";

export interface NodeDatabase extends Database {
  /** Gives its memory back at once: the collector does not see how much of it SQLite holds. */
  close(): void;
}

/** A database in memory, or in the file `path`; nested transactions are savepoints. */
export function nodeDatabase(path = ":memory:"): NodeDatabase {
  const sqlite = new DatabaseSync(path);
  const prepared = new Map<string, StatementSync>();
  let depth = 0;
  const prepare = (sql: string): StatementSync => {
    const known = prepared.get(sql);
    if (known !== undefined) return known;
    const statement = sqlite.prepare(sql);
    prepared.set(sql, statement);
    return statement;
  };
  return {
    all<T extends Record<string, SqlValue>>(sql: string, ...params: SqlValue[]): T[] {
      return prepare(sql).all(...params) as T[];
    },
    run(sql, ...params) {
      prepare(sql).run(...params);
    },
    transaction(work) {
      const savepoint = `level_${depth}`;
      depth += 1;
      sqlite.exec(`SAVEPOINT ${savepoint}`);
      try {
        const result = work();
        sqlite.exec(`RELEASE ${savepoint}`);
        return result;
      } catch (error) {
        sqlite.exec(`ROLLBACK TO ${savepoint}`);
        sqlite.exec(`RELEASE ${savepoint}`);
        throw error;
      } finally {
        depth -= 1;
      }
    },
    close: () => sqlite.close(),
  };
}
