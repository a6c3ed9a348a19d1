/**
 * What `scripted/demo` says next, from nothing but the transcript it is given.
 *
 * It has no memory: the commands stand in the user messages that no closing text has answered yet, and a call's id says
 * which command it was. After a crash, an eviction or a compaction it goes on where the records stand.
 *
 * Source: contract RUNTIME 9.
 */
import type { Message } from "@earendil-works/pi-ai";
import { getCurrentTools } from "@earendil-works/pi-ai/utils/transcript";
import { type DemoStep, parseDemoCommands } from "./demo-commands.ts";
import type { ScriptedCall, ScriptedTurn } from "./scripted-stream.ts";

const WHAT_I_AM = [
  "I am scripted/demo, a stand-in that needs no key and no network: I run commands and think nothing.",
  "Lines of your message that begin with /read, /write, /edit, /bash, /grep, /glob, /task, /skill or /say become tool calls, for example:",
  "/write hello.txt Hello",
  "/bash cat hello.txt",
  "For a real model set BERTH_MODEL to provider/model (for example anthropic/claude-sonnet-5-5) and its key (ANTHROPIC_API_KEY) as a secret, or in .dev.vars.",
].join("\n");

/** Signals and compaction summaries stand in the user role; they hold no commands. */
const SIGNAL_TYPE = /^<[A-Za-z_][A-Za-z0-9_.-]* type="([^"]*)"/;
/** After one of these the commands before it are given up. */
const END_OF_RESPONSE: readonly string[] = ["submission_aborted", "submission_interrupted"];
/** The text before one of these was cut and is no closing text. */
const CUT = "stream_interrupted";

const CALL_ID = /^demo_[0-9a-z]+_(\d+)/;
const MAX_REPORTED_CHARS = 400;

function textOf(message: Message): string {
  if (typeof message.content === "string") return message.content;
  return message.content.map((part) => (part.type === "text" ? part.text : "")).join("");
}

function signalTypeOf(message: Message): string | undefined {
  return message.role === "user" ? SIGNAL_TYPE.exec(textOf(message))?.[1] : undefined;
}

function hasCalls(message: Message): boolean {
  return message.role === "assistant" && message.content.some((part) => part.type === "toolCall");
}

/** The messages since the last closing text, abort or interruption: what is still to be answered. */
function openPart(messages: readonly Message[]): readonly Message[] {
  for (let at = messages.length - 1; at >= 0; at--) {
    const message = messages[at];
    if (message === undefined) continue;
    if (END_OF_RESPONSE.includes(signalTypeOf(message) ?? "")) return messages.slice(at + 1);
    if (message.role !== "assistant" || hasCalls(message) || message.stopReason === "error") continue;
    const next = messages[at + 1];
    if (next === undefined || signalTypeOf(next) !== CUT) return messages.slice(at + 1);
  }
  return messages;
}

/** What an interrupted closing text had already said. */
function partialText(open: readonly Message[]): string {
  const last = open.findLast((message) => message.role === "assistant");
  return last !== undefined && !hasCalls(last) ? textOf(last) : "";
}

function clip(text: string): string {
  const characters = Array.from(text);
  return characters.length <= MAX_REPORTED_CHARS ? text : `${characters.slice(0, MAX_REPORTED_CHARS).join("")}…`;
}

function doneCalls(open: readonly Message[]): number {
  let done = 0;
  for (const message of open) {
    if (message.role !== "assistant") continue;
    for (const part of message.content) {
      if (part.type === "toolCall") done = Math.max(done, Number(CALL_ID.exec(part.id)?.[1] ?? -1) + 1);
    }
  }
  return done;
}

function report(open: readonly Message[]): string[] {
  const results = open.filter((message) => message.role === "toolResult");
  if (results.length === 0) return [];
  const lines = results.map((result, index) => {
    const text = clip(textOf(result));
    return `${index + 1}. ${result.toolName}: ${result.isError ? "error" : "ok"}${text === "" ? "" : `\n${text}`}`;
  });
  return [`Done: ${results.length} ${results.length === 1 ? "call" : "calls"}.`, ...lines];
}

/** The step that begins with call number `done`. */
function nextStep(steps: readonly DemoStep[], done: number): DemoStep | undefined {
  let first = 0;
  for (const step of steps) {
    if (step.calls.length > 0 && first >= done) return step;
    first += step.calls.length;
  }
  return undefined;
}

function callTurn(step: DemoStep, done: number, idStem: string): ScriptedTurn {
  const calls: ScriptedCall[] = step.calls.map((call, index) => ({ id: `demo_${idStem}_${done + index}`, ...call }));
  return step.say.length === 0 ? { calls } : { text: step.say.join("\n"), calls };
}

/** Deterministic: the same transcript gives the same turn. */
export function demoTurn(messages: readonly Message[]): ScriptedTurn {
  const open = openPart(messages);
  const asked = open.filter((message) => message.role === "user" && signalTypeOf(message) === undefined);
  const tools = getCurrentTools(messages).map((tool) => tool.name);
  const steps = asked.flatMap((message) => parseDemoCommands(textOf(message), tools));
  if (steps.length === 0) return { text: remainder(WHAT_I_AM, open) };
  const done = doneCalls(open);
  const step = nextStep(steps, done);
  if (step !== undefined) return callTurn(step, done, (asked[0]?.timestamp ?? 0).toString(36));
  const said = steps.filter((each) => each.calls.length === 0).flatMap((each) => each.say);
  return { text: remainder([...said, ...report(open)].join("\n"), open) };
}

/** An interrupted closing text is continued, not said twice. */
function remainder(text: string, open: readonly Message[]): string {
  const partial = partialText(open);
  return partial !== "" && partial.length < text.length && text.startsWith(partial) ? text.slice(partial.length) : text;
}
