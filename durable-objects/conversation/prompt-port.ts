/**
 * Where one attempt finds the frozen prompt, and freezes it: with what it tells the model it has, in one transaction.
 *
 * Source: contract RUNTIME 5.
 */
import { createHash } from "node:crypto";
import type { Clock } from "../protocol/clock.ts";
import type { Surface } from "../protocol/surface.ts";
import type { WorkspaceSkill } from "../skills/skill.ts";
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
  const insert = (text: string, told: Surface, skills: readonly WorkspaceSkill[], compactionSeq?: number): void => {
    const sha256 = createHash("sha256").update(text).digest("hex");
    const epoch = (prompts.read()?.epoch ?? 0) + 1;
    prompts.insert({ epoch, composedAt: clock.now(), sha256, text }, compactionSeq);
    writeSurface(db, told);
    writeWorkspaceSkills(db, { foundAt: journal.head(), skills });
  };
  return {
    read: () => prompts.read()?.text,
    freeze: (text, told, workspaceSkills) => log.write(() => insert(text, told, workspaceSkills)),
    rebase: (text, told, workspaceSkills, compaction) =>
      log.write(() => {
        const [record] = log.append([compaction]);
        insert(text, told, workspaceSkills, record?.seq);
      }),
  };
}
