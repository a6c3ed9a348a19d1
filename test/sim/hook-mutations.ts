/** The fences around what agent code writes and the seams it runs at, each to be switched off in turn. */
import type { Mutation } from "./mutation.ts";

const ACCESS = "conversation/attempt-access.ts";
const HOOKS = "conversation/turn/response-hooks.ts";
const LOOP = "conversation/turn/loop.ts";
const STANDING = "conversation/recovery/standing.ts";

export const HOOK_MUTATIONS: readonly Mutation[] = [
  {
    name: "4: the start of a message is not looked for",
    file: HOOKS,
    find: "if (callbacks.length === 0 || response.hasStartRun(delivery.submissionId)) return;",
    replace: "if (callbacks.length === 0) return;",
  },
  {
    name: "4: a message is read before its start callbacks have run",
    file: HOOKS,
    find: "        await startMessage(next);\n",
    replace: "        if (next.submissionId === submissionId) await startMessage(next);\n",
  },
  {
    name: "4: a seam's records and its writes are two transactions",
    file: ACCESS,
    find: "store(write);\n          log.append(bodies);\n        });",
    replace: "store(write);\n        });\n        log.append(bodies);",
  },
  {
    name: "4: a result and its call's writes are two transactions",
    file: ACCESS,
    find: "      return log.append(bodies);\n    });",
    replace: "      return [];\n    }).concat(log.append(bodies));",
  },
  {
    name: "4: a call that was cut keeps its writes",
    file: "conversation/turn/bind-writes.ts",
    find: "        if (signal?.aborted || isUnknown) seams.discard(seam);\n",
    replace: "        if (isUnknown) seams.discard(seam);\n",
  },
  {
    name: "4: a step does not say that it awaits a finish cycle",
    file: LOOP,
    find: "step?.complete(message, parts.awaitsFinish());",
    replace: "step?.complete(message);",
  },
  {
    name: "2.5: a response counts as complete without its finish cycle",
    file: STANDING,
    find: "!last.body.awaitsFinish",
    replace: "true",
  },
  {
    name: "2.5: a response counts as complete before its response hooks have run",
    file: STANDING,
    find: "cycle ? !cycle.responseFinish :",
    replace: "cycle ? true :",
  },
  {
    name: "4: a finish cycle that was closed runs again",
    file: HOOKS,
    find: "if (!standing.isFinishClosed && (await runFinishCycle(",
    replace: "if ((await runFinishCycle(",
  },
  {
    name: "4: a response starts again after a crash",
    file: HOOKS,
    find: `    if (records.some((record) => isRecordOf(record, "assistant") || isRecordOf(record, "metadata"))) return;\n`,
    replace: "",
  },
  {
    name: "1.8: data and metadata come before the message they belong to",
    file: ACCESS,
    find: "      lifecycle.ensureShown(submission);\n",
    replace: "",
  },
  {
    name: "1.7: the marker of a joined message parts the response in a snapshot",
    file: "conversation/projection/snapshot.ts",
    find: ` && body.type !== "agent_start_run"`,
    replace: "",
  },
];
