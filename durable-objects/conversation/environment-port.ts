/**
 * Where one attempt finds what the model was last told it has; a change of it and the records that tell it are one
 * transaction.
 *
 * Source: contract RUNTIME 5 ("Signals on change").
 */
import type { Database } from "./store/database.ts";
import {
  readSurface,
  readWorkspaceGeneration,
  readWorkspaceSkills,
  writeSurface,
  writeWorkspaceGeneration,
  writeWorkspaceSkills,
} from "./store/environment.ts";
import type { Journal } from "./store/journal.ts";
import type { AttemptLog } from "./submission-lifecycle.ts";
import type { EnvironmentPort } from "./turn/ports.ts";

export function createEnvironmentPort(db: Database, journal: Journal, log: AttemptLog): EnvironmentPort {
  return {
    readTold: () => readSurface(db),
    readGeneration: () => readWorkspaceGeneration(db),
    readWorkspaceSkills: () => readWorkspaceSkills(db)?.skills ?? [],
    isWorkspaceUsed: () => journal.hasToolCallSince(readWorkspaceSkills(db)?.foundAt ?? 0),
    note: ({ surface, generation, workspaceSkills }, told) =>
      log.write(() => {
        if (surface) writeSurface(db, surface);
        if (generation !== undefined) writeWorkspaceGeneration(db, generation);
        if (workspaceSkills) writeWorkspaceSkills(db, { foundAt: journal.head(), skills: workspaceSkills });
        log.append(told);
      }),
  };
}
