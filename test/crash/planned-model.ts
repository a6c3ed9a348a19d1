/**
 * A model that reads its plan out of the request, so that it answers the same after any crash: `<<plan:NAME;a+b;c>>` is
 * two turns, of the calls `a` and `b` and of the call `c`. A call is `B.id` (a ledger line that takes a while) or `W.id`
 * (a file).
 */
import type { ModelTurn, RecordedRequest, ScriptedCall } from "../model-server/script.ts";
import { textOf } from "../model-server/script.ts";

const PLAN = /<<plan:([^>]*)>>/g;

export interface PlannedCall {
  kind: "B" | "W";
  id: string;
  seconds: string;
}

export interface PlannedMessage {
  name: string;
  turns: PlannedCall[][];
}

export function renderPlan({ name, turns }: PlannedMessage): string {
  const rendered = turns.map((turn) => turn.map(({ kind, id, seconds }) => `${kind}.${id}~${seconds}`).join("+"));
  return `<<plan:${[name, ...rendered].join(";")}>>`;
}

function parseCall(text: string): PlannedCall {
  const [, kind, id, seconds] = /^([BW])\.(.+)~([\d.]+)$/.exec(text) ?? [];
  if ((kind !== "B" && kind !== "W") || id === undefined || seconds === undefined) throw new Error(`No call: ${text}`);
  return { kind, id, seconds };
}

function scriptedCall({ kind, id, seconds }: PlannedCall): ScriptedCall {
  const callId = `call_${id.replaceAll(/[^A-Za-z0-9]/g, "_")}`;
  if (kind === "W")
    return { id: callId, name: "write", arguments: { path: `f-${id}.txt`, content: `content of ${id}` } };
  const command = `echo 'LEDGER-${id}' >> ledger; sleep ${seconds}; echo 'end ${id}'`;
  return { id: callId, name: "bash", arguments: { command } };
}

/** Which planned call a request's call is. */
export function plannedIdOf(callArguments: string): string | undefined {
  return /LEDGER-([^']+)'/.exec(callArguments)?.[1] ?? /"f-(.+?)\.txt"/.exec(callArguments)?.[1];
}

/** The next turn: the first of the plans' that has not been issued, or an answer that names every plan. */
export function planTurn(request: RecordedRequest, pauseMs: number): ModelTurn {
  const { messages } = request.body;
  const asked = messages.filter((message) => message.role === "user").map((message) => textOf(message.content));
  const issued = new Set(
    messages.flatMap((message) => message.tool_calls ?? []).map((call) => plannedIdOf(call.function?.arguments ?? "")),
  );
  const names: string[] = [];
  for (const [, plan = ""] of asked.join("\n").matchAll(PLAN)) {
    const [name = "", ...turns] = plan.split(";");
    names.push(name);
    for (const turn of turns) {
      const todo = turn
        .split("+")
        .map(parseCall)
        .filter((call) => !issued.has(call.id));
      if (todo.length > 0) return { pause: { waitMs: pauseMs }, calls: todo.map(scriptedCall) };
    }
  }
  const answer = `answer to ${names.join(" ")}`;
  return { text: answer.split(" ").flatMap((word) => [`${word} `, { waitMs: 15 }]) };
}
