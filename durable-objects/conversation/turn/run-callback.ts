/**
 * Runs one callback of `useAgentStart` or `useAgentFinish` in a seam of its own. What it appends and writes is handed back
 * to whoever ends the seam; after the callback, neither works any more.
 *
 * Source: contract RUNTIME 2.8, 4.
 */
import { createCallbackLog } from "../../agent/callback-log.ts";
import type { AgentStartContext } from "../../agent/event-hooks.ts";
import { authoringError } from "../../agent/frame.ts";
import type { HarnessSource, OpenHarness } from "../../agent/harness-source.ts";
import { parseDeliveredMessage } from "../../protocol/delivered-message.ts";
import { BerthError } from "../../protocol/errors.ts";
import type { RecordBody, SignalRecord } from "../../protocol/records.ts";
import type { SignalDelivery } from "../../protocol/submission.ts";
import { settleOrAbandon } from "../../tools/abandon-on-abort.ts";
import { callbackFault } from "./callback-fault.ts";
import type { AttemptPorts, Seam } from "./ports.ts";

export interface EndedCallback {
  seam: Seam;
  /** Signals in the order they were appended. */
  appended: RecordBody[];
}

export interface CallbackKind {
  hook: "useAgentStart" | "useAgentFinish";
  appendedBy: NonNullable<SignalRecord["appendedBy"]>;
  /** Names the call of the callback in the conversation. */
  id: string;
  harnesses: HarnessSource;
}

/**
 * Rejects with the fault that fails the submission, or because of an abort, which a callback that does not listen cannot
 * hold up.
 */
export async function runCallback(
  ports: AttemptPorts,
  { hook, appendedBy, id, harnesses }: CallbackKind,
  signal: AbortSignal,
  callback: (context: AgentStartContext) => unknown,
): Promise<EndedCallback> {
  const { agent, seams, submissionId, timers } = ports;
  const seam = seams.open();
  const appended: RecordBody[] = [];
  let opened: OpenHarness | undefined;
  const context: AgentStartContext = {
    append(message) {
      if (!seam.isOpen) throw authoringError(agent, `called append of ${hook}() after its callback had ended.`);
      const { type: signalType, body, attributes, tagName } = parseAppended(agent, hook, message);
      appended.push({
        ...{ type: "signal", submissionId, signalType, body, appendedBy },
        ...(attributes && { attributes }),
        ...(tagName !== undefined && { tagName }),
      });
    },
    log: createCallbackLog(agent, hook),
    signal,
    get harness() {
      opened ??= harnesses.open({ name: hook, owner: `Agent "${agent}", ${hook}()`, id, signal });
      return opened.harness;
    },
  };
  try {
    await settleOrAbandon(() => seams.run(seam, async () => callback(context)), signal, timers);
    return { seam, appended };
  } catch (error) {
    seams.discard(seam);
    throw signal.aborted ? error : callbackFault(agent, hook, error);
  } finally {
    opened?.close();
    seams.close(seam);
  }
}

function parseAppended(agent: string, hook: string, message: unknown): SignalDelivery {
  const refuse = (why: string) => authoringError(agent, `misused append of ${hook}(): ${why}`);
  try {
    const parsed = parseDeliveredMessage(message);
    if (parsed.kind === "signal") return parsed;
  } catch (error) {
    throw refuse(error instanceof BerthError ? error.message : String(error));
  }
  throw refuse("only signals can be appended. New input goes through useDispatchMessage().");
}
