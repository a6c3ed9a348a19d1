/**
 * What a conversation is: fixed at birth, read from then on; the workspace it was last seen with, and its skills.
 *
 * Source: contract RUNTIME 1.3 (`uid`), 1.7 (`incarnation`).
 */
import type { WorkspaceSkill } from "../../skills/skill.ts";
import type { Database } from "./database.ts";

export interface Instance {
  uid: string;
  /** Generation of the stream. */
  incarnation: string;
  agent: string;
  /** As the caller chose it. */
  id: string;
  initialData?: unknown;
}

const KEY = "instance";

export function readInstance(db: Database): Instance | undefined {
  const row = db.all<{ value: string }>("SELECT value FROM instance WHERE key = ?", KEY)[0];
  return row && (JSON.parse(row.value) as Instance);
}

const GENERATION_KEY = "workspace_generation";

/** The file system the conversation's sandbox had when it was last looked at. */
export function readWorkspaceGeneration(db: Database): string | undefined {
  return db.all<{ value: string }>("SELECT value FROM instance WHERE key = ?", GENERATION_KEY)[0]?.value;
}

export function writeWorkspaceGeneration(db: Database, generation: string): void {
  db.run("INSERT OR REPLACE INTO instance (key, value) VALUES (?, ?)", GENERATION_KEY, generation);
}

const SKILLS_KEY = "workspace_skills";

/** The skills that discovery found in the workspace when the prompt was frozen. */
export function readWorkspaceSkills(db: Database): WorkspaceSkill[] {
  const row = db.all<{ value: string }>("SELECT value FROM instance WHERE key = ?", SKILLS_KEY)[0];
  return row ? (JSON.parse(row.value) as WorkspaceSkill[]) : [];
}

export function writeWorkspaceSkills(db: Database, skills: readonly WorkspaceSkill[]): void {
  db.run("INSERT OR REPLACE INTO instance (key, value) VALUES (?, ?)", SKILLS_KEY, JSON.stringify(skills));
}

export function insertInstance(db: Database, instance: Instance): void {
  db.run("INSERT INTO instance (key, value) VALUES (?, ?)", KEY, JSON.stringify(instance));
}
