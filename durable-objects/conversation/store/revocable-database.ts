/**
 * A database that can be taken away: whatever still runs when a conversation is erased can neither read nor write what
 * comes after it in the same object.
 */
import { BerthError } from "../../protocol/errors.ts";
import type { Database } from "./database.ts";

export function revocableDatabase(target: Database): { db: Database; revoke(): void } {
  let isRevoked = false;
  const current = (): Database => {
    if (isRevoked) throw new BerthError("stream_not_found", "The conversation was deleted.");
    return target;
  };
  return {
    db: {
      all: (sql, ...params) => current().all(sql, ...params),
      run: (sql, ...params) => current().run(sql, ...params),
      transaction: (work) => current().transaction(work),
    },
    revoke() {
      isRevoked = true;
    },
  };
}
