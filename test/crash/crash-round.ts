/**
 * One round of real crashes: conversations at work, `kill -9` of the whole tree at random moments, a restart, nobody
 * calling. Then the promises are checked from the outside alone: over HTTP, from what the model was sent, and from a ledger
 * file in the workspace.
 */

import type { WireSnapshot } from "../../durable-objects/protocol/wire.ts";
import type { ScriptedBerth } from "../e2e/scripted-berth.ts";
import { readToolResults, scriptToken, textOf } from "../model-server/script.ts";
import type { Random } from "../sim/random.ts";
import { type ConversationClient, freshId, openConversation } from "../wire/conversation-client.ts";
import { within } from "../wire/within.ts";
import { type PlannedMessage, plannedIdOf, planTurn, renderPlan } from "./planned-model.ts";

const CONVERSATIONS = 3;
const POST_MS = 8_000;
const HISTORY_TRIES = 3;
const HISTORY_PAUSE_MS = 1_000;
const QUIET_MS = 700;
const GIVE_UP_MS = 90_000;
/** From the process being back to the first request of a resumed attempt (RUNTIME 2.7). */
const RECOVERY_LIMIT_MS = 6_000;

export interface RoundResult {
  problems: string[];
  kills: number;
  admitted: number;
  calls: number;
  /** From ready to the first model request, where there was work to resume. */
  recoveryMs?: number;
}

interface Actor {
  key: string;
  conversation: ConversationClient;
  sent: (PlannedMessage & { submissionId: string })[];
}

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

function planMessage(random: Random, name: string): PlannedMessage {
  const turns = Array.from({ length: 1 + random.below(3) }, (_, turn) =>
    Array.from({ length: 1 + random.below(3) }, (_unused, call) => ({
      kind: random.chance(0.75) ? ("B" as const) : ("W" as const),
      id: `${name}.${turn}.${call}`,
      seconds: (random.next() * 1.2).toFixed(2),
    })),
  );
  return { name, turns };
}

async function post(actor: Actor, message: PlannedMessage): Promise<boolean> {
  const body = `${scriptToken(actor.key)} ${renderPlan(message)}`;
  try {
    return await within(POST_MS, async (signal) => {
      const answer = await actor.conversation.call("POST", "", {
        body: JSON.stringify({ kind: "user", body }),
        headers: { "content-type": "application/json" },
        signal,
      });
      if (answer.status !== 202) return false;
      const { submissionId } = (await answer.json()) as { submissionId: string };
      actor.sent.push({ ...message, submissionId });
      return true;
    });
  } catch {
    // The server went away: nothing was promised.
    return false;
  }
}

export async function runCrashRound({ berth, model }: ScriptedBerth, random: Random): Promise<RoundResult> {
  const kills = 1 + random.below(2);
  const actors: Actor[] = Array.from({ length: CONVERSATIONS }, () => {
    const key = freshId();
    model.script(key, (request) => planTurn(request, 30 + random.below(200)));
    return { key, conversation: openConversation(berth.baseUrl, "coder", key), sent: [] };
  });
  let isOver = false;
  const posting = actors.map(async (actor) => {
    const count = 2 + random.below(3);
    for (let i = 1; i <= count && !isOver; i++) {
      if (!(await post(actor, planMessage(random, `${actor.key}.m${i}`)))) return;
      await sleep(random.below(700));
    }
  });
  await sleep(150 + random.below(2500));
  let readyAt = 0;
  for (let kill = 0; kill < kills; kill++) {
    if (kill > 0) await sleep(random.below(2500));
    await berth.kill();
    isOver = true;
    await berth.restart();
    readyAt = Date.now();
  }
  await Promise.all(posting);
  const requestsOf = (actor: Actor) => model.requestsOf(actor.key);
  const seenBefore = actors.map((actor) => requestsOf(actor).length);
  let firstAt: number | undefined;
  const isAnswered = (actor: Actor): boolean => {
    const answers = requestsOf(actor)
      .filter((request) => request.state === "answered")
      .map((request) => request.answer);
    return actor.sent.every(({ name }) => answers.some((answer) => answer?.includes(name)));
  };
  // Nobody calls: only the model is watched.
  const start = Date.now();
  let quietSince = start;
  let total = seenBefore.reduce((a, b) => a + b, 0);
  while (Date.now() - start < GIVE_UP_MS) {
    await sleep(50);
    const now = actors.reduce((sum, actor) => sum + requestsOf(actor).length, 0);
    if (now !== total) {
      firstAt ??= Date.now();
      total = now;
      quietSince = Date.now();
    }
    if (actors.every(isAnswered) && Date.now() - quietSince > QUIET_MS) break;
  }
  const problems = (await Promise.all(actors.map((actor) => checkActor(actor, { berth, model })))).flat();
  const recoveryMs = firstAt === undefined ? undefined : firstAt - readyAt;
  if (recoveryMs !== undefined && recoveryMs > RECOVERY_LIMIT_MS)
    problems.push(`recovery began after ${recoveryMs} ms`);
  return {
    problems,
    kills,
    admitted: actors.reduce((sum, actor) => sum + actor.sent.length, 0),
    calls: actors.reduce((sum, actor) => sum + actor.sent.flatMap(({ turns }) => turns.flat()).length, 0),
    ...(recoveryMs !== undefined && { recoveryMs }),
  };
}

/** The development server answers 500 while it reloads, as it does when a file it bundled was touched. */
async function readHistory(conversation: ConversationClient): Promise<WireSnapshot> {
  for (let tries = 1; ; tries++) {
    try {
      return await conversation.history();
    } catch (error) {
      if (tries === HISTORY_TRIES) throw error;
      console.log(`  history was read again: ${error instanceof Error ? error.message : String(error)}`);
      await sleep(HISTORY_PAUSE_MS);
    }
  }
}

async function checkActor(actor: Actor, { model }: Pick<ScriptedBerth, "berth" | "model">): Promise<string[]> {
  const { key, conversation, sent } = actor;
  if (sent.length === 0) return [];
  const problems: string[] = [];
  const { messages, settlements } = await readHistory(conversation);
  for (const { submissionId, name } of sent) {
    const ends = settlements.filter((settlement) => settlement.submissionId === submissionId);
    if (ends.length !== 1) problems.push(`${name} has ${ends.length} settlements`);
    else if (ends[0]?.outcome !== "completed") problems.push(`${name} is ${JSON.stringify(ends[0])}`);
  }
  const asked = messages
    .filter((message) => message.role === "user")
    .map(
      (message) =>
        /<<plan:([^;>]*)/.exec(message.parts.map((part) => (part.type === "text" ? part.text : "")).join(""))?.[1],
    )
    .filter((name) => sent.some((message) => message.name === name));
  if (asked.join() !== sent.map((message) => message.name).join()) problems.push(`${key}: order is ${asked.join()}`);
  if (JSON.stringify(messages).includes('"state":"streaming"')) problems.push(`${key}: a part is left streaming`);
  problems.push(...model.problemsOf(key).map((problem) => `${key}: ${problem}`));
  problems.push(...(await checkWorkspace(actor, model)));
  return problems;
}

/** Asks the agent itself what lies in its workspace, and holds it against the results the model was shown. */
async function checkWorkspace({ conversation, sent }: Actor, model: ScriptedBerth["model"]): Promise<string[]> {
  const problems: string[] = [];
  const key = freshId();
  const command = 'cat ledger 2>/dev/null; for f in f-*.txt; do [ -f "$f" ] && echo "FILE $f $(cat "$f")"; done; true';
  const look = { id: `look_${key.replaceAll("-", "_")}`.slice(0, 40), name: "bash", arguments: { command } };
  model.script(key, [{ calls: [look] }, { text: "seen" }]);
  const { submissionId } = await conversation.send(`look ${scriptToken(key)}`);
  await conversation.settled(submissionId);
  const request = model.requestsOf(key).at(-1);
  if (!request) return ["the workspace could not be looked at"];
  const results = readToolResults(request.body);
  const lines = (results.at(-1)?.text ?? "").split("\n");
  const count = (line: string): number => lines.filter((other) => other.trim() === line).length;
  const shown = new Map<string, string>();
  for (const message of request.body.messages) {
    for (const call of message.tool_calls ?? []) {
      const id = plannedIdOf(call.function?.arguments ?? "");
      const result = request.body.messages.find((other) => other.tool_call_id === call.id);
      if (id !== undefined) shown.set(id, textOf(result?.content));
    }
  }
  for (const { kind, id } of sent.flatMap(({ turns }) => turns.flat())) {
    const result = shown.get(id);
    if (kind === "B" && count(`LEDGER-${id}`) > 1) problems.push(`${id} ran ${count(`LEDGER-${id}`)} times`);
    if (result === undefined) problems.push(`${id} was never shown to the model`);
    else if (kind === "B" && (result.trim() !== `end ${id}` || count(`LEDGER-${id}`) !== 1)) {
      problems.push(`${id} has the result ${JSON.stringify(result.slice(0, 80))} and ${count(`LEDGER-${id}`)} lines`);
    } else if (
      kind === "W" &&
      (!result.startsWith("Successfully wrote") || count(`FILE f-${id}.txt content of ${id}`) !== 1)
    ) {
      problems.push(`${id} has the result ${JSON.stringify(result.slice(0, 80))} and its file is not whole`);
    }
  }
  return problems;
}
