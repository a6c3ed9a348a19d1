/**
 * Where one attempt finds the frozen prompt, and freezes it: with what it tells the model it has, in one transaction.
 *
 * Source: contract RUNTIME 5.
 */
import { createHash } from "node:crypto";
import type { Clock } from "../protocol/clock.ts";
import type { Database } from "./store/database.ts";
import { writeSurface, writeWorkspaceSkills } from "./store/environment.ts";
import type { Journal } from "./store/journal.ts";
import type { PromptStore } from "./store/prompts.ts";
import type { AttemptLog } from "./submission-lifecycle.ts";
import type { PromptPort } from "./turn/ports.ts";

export interface PromptPortParts {
  db: Database;
  prompts: PromptStore;
  journal: Journal;
  clock: Clock;
}

export function createPromptPort({ db, prompts, journal, clock }: PromptPortParts, log: AttemptLog): PromptPort {
  return {
    read: () => prompts.read()?.text,
    freeze(text, told, workspaceSkills) {
      const sha256 = createHash("sha256").update(text).digest("hex");
      log.write(() => {
        prompts.insert({ epoch: 1, composedAt: clock.now(), sha256, text });
        writeSurface(db, told);
        writeWorkspaceSkills(db, { foundAt: journal.head(), skills: workspaceSkills });
      });
    },
  };
}
