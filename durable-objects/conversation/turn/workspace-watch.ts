/**
 * Notices that the files an agent worked with are gone, and tells the model once for each loss.
 *
 * The conversation keeps the id of the file system it saw last; a sandbox that knows its own (`Sandbox.generation`) is
 * compared with it before every request. What was told stays noted, so that an attempt after a crash tells nothing twice.
 *
 * Source: contract RUNTIME 5 ("Signals on change"); ARCHITECTURE 6.
 */
import type { Sandbox } from "../../../containers/sandbox.ts";
import { renderEnvironmentChange, WORKSPACE_LOST } from "../../prompt/environment-change.ts";
import type { RecordBody } from "../../protocol/records.ts";
import type { AttemptPorts } from "./ports.ts";

/** Noted when the loss was told and nothing has taken the lost one's place yet. */
const NONE = "";

/** Whether a command that was started may not be asked for again by its key: it belongs to a file system that is gone. */
export async function isWorkspaceLost({ workspace }: AttemptPorts, sandbox: Sandbox | undefined): Promise<boolean> {
  if (!sandbox?.generation) return false;
  const current = await sandbox.generation().catch(() => undefined);
  return current === undefined || current !== workspace.readGeneration();
}

/** Notes the file system that is there now, and writes the record that tells of a loss. */
export async function noticeLoss(
  { submissionId, workspace }: AttemptPorts,
  sandbox: Sandbox | undefined,
  tools: readonly string[],
): Promise<void> {
  if (!sandbox?.generation) return;
  const known = workspace.readGeneration();
  // A sandbox that cannot be asked has told nothing: the next request asks again.
  const current = await sandbox.generation().then(
    (generation) => generation ?? NONE,
    () => known,
  );
  if (current === undefined || current === known) return;
  const isLoss = known !== undefined && known !== NONE;
  const body = renderEnvironmentChange(WORKSPACE_LOST, { cwd: sandbox.cwd, tools, agents: [] });
  const told: RecordBody[] = isLoss ? [{ type: "signal", submissionId, signalType: "environment", body }] : [];
  workspace.noteGeneration(current, told);
}
