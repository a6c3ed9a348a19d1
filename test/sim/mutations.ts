/**
 * Fences and guards, each to be switched off in turn: the simulator must notice. A text that is no longer there is an
 * error, so that the list follows the code.
 */
import { HOOK_MUTATIONS } from "./hook-mutations.ts";
import type { Mutation } from "./mutation.ts";

const LIFECYCLE = "conversation/submission-lifecycle.ts";
const SUPERVISOR = "conversation/supervisor.ts";
const JOURNAL = "conversation/store/journal.ts";
const QUEUE = "conversation/store/submission-queue.ts";
const ENGINE = "conversation/engine.ts";
const ENVIRONMENT = "conversation/environment-port.ts";
const ADMISSION = "conversation/admission.ts";
const STANDING = "conversation/recovery/standing.ts";
const CLOSING = "conversation/recovery/closing-records.ts";
const RESUME = "conversation/turn/resume-calls.ts";
const LOOP = "conversation/turn/loop.ts";
const STEP_WRITER = "conversation/turn/step-writer.ts";
const TRANSCRIPT = "conversation/turn/transcript.ts";
const CHUNKS = "conversation/projection/chunks.ts";

export const MUTATIONS: readonly Mutation[] = [
  {
    name: "Q5: an overtaken attempt may write",
    file: LIFECYCLE,
    find: "if (holder?.id !== submission.id || holder.attempt !== submission.attempt) {",
    replace: "if (holder?.id !== submission.id) {",
  },
  {
    name: "Q5: a new attempt keeps the old number",
    file: LIFECYCLE,
    find: "attempt: submission.attempt + 1,\n      attemptSeq: journal.head(),",
    replace: "attempt: submission.attempt,\n      attemptSeq: journal.head(),",
  },
  {
    name: "Q2: the newest waits least",
    file: QUEUE,
    find: "state = 'queued' ORDER BY seq LIMIT 1",
    replace: "state = 'queued' ORDER BY seq DESC LIMIT 1",
  },
  {
    name: "Q2: what waits joins in any order",
    file: QUEUE,
    find: `return this.#many("state = 'queued' ORDER BY seq");`,
    replace: `return this.#many("state = 'queued' ORDER BY seq DESC");`,
  },
  {
    name: "Q3: what joined is forgotten at the settlement",
    file: LIFECYCLE,
    find: "      this.#settleJoined(submission, records, outcome, fault);\n",
    replace: "",
  },
  {
    name: "Q3: a message counts as answered although it is not",
    file: LIFECYCLE,
    find: "const isAnswered = lastAnswerSeq > (joined.inputSeq ?? 0);",
    replace: "const isAnswered = true;",
  },
  {
    name: "Q3: a response counts as complete although a message joined after it",
    file: STANDING,
    find: "    lastJoinedSeq > last.seq || after.some(",
    replace: "    after.some(",
  },
  {
    name: "Q4: a message that came back is recorded again",
    file: LIFECYCLE,
    find: "    if (submission.inputSeq !== undefined) return { seq: submission.inputSeq, isMalformed: false };\n",
    replace: "",
  },
  {
    name: "A1: an admission is not backed by an alarm",
    file: ENGINE,
    find: "      supervisor.arm();\n      return admitted;",
    replace: "      return admitted;",
  },
  {
    name: "A1: a pass does not arm before it acts",
    file: SUPERVISOR,
    find: "    this.arm();\n    try {",
    replace: "    try {",
  },
  {
    name: "A1: a live attempt is not watched",
    file: SUPERVISOR,
    find: "const times = [now + ATTEMPT_TICK_MS];",
    replace: "const times = [now + 10 * 3_600_000];",
  },
  {
    name: "A1: the end of an attempt starts nothing",
    file: SUPERVISOR,
    find: "this.#conclude(current, end);\n    this.pass();",
    replace: "this.#conclude(current, end);",
  },
  {
    name: "2.7: a hung attempt is not settled over",
    file: SUPERVISOR,
    find: "if (now < Math.min(...cuts.map(Number)) + SETTLE_GRACE_MS) return false;",
    replace: "if (now > 0) return false;",
  },
  {
    name: "2.7: the deadline of a live attempt is not looked at",
    file: SUPERVISOR,
    find: "const cuts = [running.abortAt, running.deadlineAt].filter(",
    replace: "const cuts = [running.abortAt].filter(",
  },
  {
    name: "2.5: a crash is not noticed",
    file: SUPERVISOR,
    find: "return this.#live?.submissionId === running.id && this.#live.attempt === running.attempt;",
    replace: "return running.id !== '';",
  },
  {
    name: "J1: deltas go before the record that replaces them is there",
    file: JOURNAL,
    find: "      const next = this.head() + 1;\n",
    replace:
      '      if ("deltas" in body && body.deltas) this.#dropDeltas(thread, body.deltas);\n      const next = this.head() + 1;\n',
  },
  {
    name: "J2: deltas outlive their message",
    file: JOURNAL,
    find: `      if ("deltas" in body && body.deltas) this.#dropDeltas(thread, body.deltas);\n`,
    replace: "",
  },
  {
    name: "J2: the tail of a message is not told",
    file: STEP_WRITER,
    find: "const tail = mergePieces(this.#pending);",
    replace: "const tail: TextPiece[] = [];",
  },
  {
    name: "J2: a reader among gone deltas is told only the tail",
    file: CHUNKS,
    find: `return previousSeq === deltas.lastSeq ? "after" : "among";`,
    replace: `return "after";`,
  },
  {
    name: "J2: a reader beyond another record is taken for one who has seen all",
    file: CHUNKS,
    find: `return previousSeq === deltas.lastSeq ? "after" : "among";`,
    replace: `return previousSeq < deltas.lastSeq ? "among" : "after";`,
  },
  {
    name: "J2: a response has no place among what is recorded while it is written",
    file: LIFECYCLE,
    find: "      this.#markResponse();\n",
    replace: "",
  },
  {
    name: "J2: a withdrawn step is not taken back",
    file: CHUNKS,
    find: "  const message = context.readResponse(submissionId, seq);\n  if (message) add(INDEX.replaced,",
    replace:
      "  const message = context.readResponse(submissionId, seq);\n  if (message && seq < 0) add(INDEX.replaced,",
  },
  {
    name: "2.5: a half-written step stays open",
    file: RESUME,
    find: "  if (partial) journal.append(partialRecords(submissionId, partial));\n",
    replace: "  if (partial && submissionId === '') journal.append(partialRecords(submissionId, partial));\n",
  },
  {
    name: "T1: an abort leaves calls without a result",
    file: CLOSING,
    find: "for (const { call, started } of standing.openCalls) {",
    replace: "for (const { call, started } of standing.openCalls.slice(1)) {",
  },
  {
    name: "T1: a thread is left as a crash found it",
    file: LIFECYCLE,
    find: "for (const body of closing) journal.append(thread, body);",
    replace: "void closing;",
  },
  {
    name: "T1: results stand where they were recorded",
    file: TRANSCRIPT,
    find: "return [step.assistant, ...results];",
    replace: "return [step.assistant, ...results.reverse()];",
  },
  {
    name: "T2: a call that has its result runs again",
    file: STANDING,
    find: "    .filter((call) => !done.has(call.id))\n",
    replace: "    .filter((call) => !done.has(call.id) || call.id !== '')\n",
  },
  {
    name: "T2: the start of a call is not recorded",
    file: LOOP,
    find: `journal.append([{ type: "tool_started", submissionId, toolCallId, toolName, attempt }]);`,
    replace: "void [toolCallId, toolName, attempt];",
  },
  {
    name: "12: call ids are used again",
    file: LOOP,
    find: "makeCallIdsUnique(message, (id) => transcript.hasCall(id) || journal.hasToolCall(id), ids);",
    replace: "makeCallIdsUnique(message, () => false, ids);",
  },
  {
    name: "2.6: a command cannot be found again",
    file: RESUME,
    find: `["rerun", "reattach", "reconcile", "steps"]`,
    replace: `["rerun", "reconcile", "steps"]`,
  },
  {
    name: "2.6: a write leaves no intent",
    file: "tools/reconciled-write.ts",
    find: "    notes.record(toolCallId, { path, ...(before !== undefined && { before }), after, result });\n",
    replace: "    void [toolCallId, before, after];\n",
  },
  {
    name: "2.6: the intent of a write is not looked for",
    file: "tools/reconciled-write.ts",
    find: "const intent = notes?.find(toolCallId);",
    replace: "const intent = notes?.find(toolCallId.repeat(2));",
  },
  {
    name: "2.6: completed steps run again",
    file: "conversation/turn/call-notes.ts",
    find: "return step && { output: step.output };",
    replace: "return step && toolCallId === '' ? { output: step.output } : undefined;",
  },
  {
    name: "1.5: a key does not fold a repeat",
    file: ADMISSION,
    find: 'const submissionId = keyedId ?? ids.next("sub");',
    replace: 'const submissionId = ids.next("sub");',
  },
  {
    name: "P1: the prompt is composed anew for every attempt",
    file: "conversation/prompt-port.ts",
    find: "    read: () => prompts.read()?.text,",
    replace: "    read: () => undefined,",
  },
  {
    name: "2.4: what joined is not read before the request",
    file: LOOP,
    find: "    for (const record of journal.readTranscript(transcript.lastSeq)) transcript.apply(record);\n",
    replace:
      "    if (transcript.lastSeq === 0) for (const record of journal.readTranscript(0)) transcript.apply(record);\n",
  },
  {
    name: "5: what was told is noted, and its signals are not",
    file: ENVIRONMENT,
    find: "        log.append(told);\n",
    replace: "",
  },
  {
    name: "5: signals are told, and not noted as told",
    file: ENVIRONMENT,
    find: "        if (surface) writeSurface(db, surface);\n",
    replace: "",
  },
  {
    name: "5: signals are told in a transaction of their own, before they are noted",
    file: ENVIRONMENT,
    find: "    note: ({ surface, generation, workspaceSkills }, told) =>\n      log.write(() => {",
    replace:
      "    note: ({ surface, generation, workspaceSkills }, told) => log.append(told) && log.write(() => {\n        told = [];",
  },
  {
    name: "5: changes that came about while nothing ran are not told",
    file: "conversation/turn/environment.ts",
    find: "const signals = this.#told ? findDrift(",
    replace: "const signals = this.#told && this.#ports.attempt > 1 ? findDrift(",
  },
  ...HOOK_MUTATIONS,
  {
    name: "6: what was told before a new prompt stays and contradicts it",
    file: TRANSCRIPT,
    find: '"message" in entry && entry.isNarration;',
    replace: '"message" in entry && entry.isNarration && entry.seq < 0;',
  },
  {
    name: "6: a summary is stored and its prompt is not",
    file: "conversation/prompt-port.ts",
    find: "        insert(text, told, workspaceSkills, record?.seq);\n",
    replace: "        if (record === undefined) insert(text, told, workspaceSkills);\n",
  },
  {
    name: "6: a call is summarised without its result",
    file: "conversation/turn/compaction/compactor.ts",
    find: "keptFromSeq: kept[0]?.seq ?? 0,",
    replace: "keptFromSeq: (kept[0]?.seq ?? 0) - 1,",
  },
];
