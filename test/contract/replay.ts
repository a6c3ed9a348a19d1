/** Runs one vector over one driver: set-up, the call or calls, a look at the files. Throws on a difference. */
import { inspect } from "node:util";
import { expect, vi } from "vitest";
import { resolvePath } from "../../containers/paths.ts";
import type { Sandbox } from "../../containers/sandbox.ts";
import type { DurableTool } from "../../durable-objects/tools/define-tool.ts";
import {
  createActivateSkillTool,
  createPathLocks,
  createReadSkillResourceTool,
  createSandboxTools,
  createTaskTool,
  formatBashResult,
} from "../../durable-objects/tools/index.ts";
import { deviations } from "./deviations.ts";
import type { ContractDriver, OpenSandbox } from "./drivers/contract-driver.ts";
import { scriptedSandbox } from "./drivers/scripted.ts";
import { replaySkillTool } from "./skill-vectors.ts";
import { contentBytes, type Expectation, expandParams, type Outcome, sameText, sha256, type Vector } from "./vector.ts";

/** Longer than any delay in a scripted answer, the tool's own timeouts included. */
const SCRIPT_END_MS = 60_000;

/** The text came out as recorded, or (`adapterText`) only its kind did. */
export type Verdict = "passed" | "adapter text";

/** `twin` is the same case on the other search program, where a driver with a search of its own may agree with that one. */
export async function replay(vector: Vector, driver: ContractDriver, twin?: Vector): Promise<Verdict> {
  if (vector.tool === "resolvePath") return replayResolve(vector);
  if (vector.tool === "definition") return replayDefinition(vector);
  if (vector.tool === "formatBashResult") {
    const params = vector.params as { stdout: string; stderr: string; exitCode: number };
    const { text, details } = formatBashResult(params, "cmd");
    return check(vector, vector.expect, { text, details });
  }
  if (vector.tool === "activate_skill" || vector.tool === "read_skill_resource") {
    return check(vector, vector.expect, await replaySkillTool(vector, outcomeOf));
  }
  return vector.setup?.stub ? replayScripted(vector) : replayReal(vector, driver, twin);
}

function replayResolve(vector: Vector): Verdict {
  const { cwd, path } = vector.params as { cwd: string; path: string };
  expect(resolvePath(cwd, path)).toBe(vector.expect.path);
  return "passed";
}

function replayDefinition({ expect: recorded }: Vector): Verdict {
  const wanted = recorded as unknown as { name: string; label: string; description: string; parameters: unknown };
  const tools = [
    ...createSandboxTools(scriptedSandbox({}).sandbox),
    ...[
      createTaskTool({ available: () => [] }),
      createActivateSkillTool(async () => ""),
      createReadSkillResourceTool([]),
    ],
  ];
  const tool = tools.find((candidate) => candidate.name === wanted.name);
  const shown = tool && [tool.name, tool.label, tool.description, tool.parameters];
  expect(JSON.stringify(shown)).toBe(
    JSON.stringify([wanted.name, wanted.label, wanted.description, wanted.parameters]),
  );
  return "passed";
}

async function replayScripted(vector: Vector): Promise<Verdict> {
  const { sandbox } = scriptedSandbox(vector.setup?.stub ?? {}, vector.setup?.cwd);
  vi.useFakeTimers();
  try {
    const running = runCalls(vector, sandbox);
    await vi.advanceTimersByTimeAsync(SCRIPT_END_MS);
    return checkAll(vector, await running);
  } finally {
    vi.useRealTimers();
  }
}

async function replayReal(vector: Vector, driver: ContractDriver, twin?: Vector): Promise<Verdict> {
  const { files = {}, commands = [], cwd = "/workspace", ripgrep = true } = vector.setup ?? {};
  const open = await driver.open({ cwd, ripgrep });
  try {
    for (const [path, content] of Object.entries(files)) {
      await open.putFile(resolvePath("/workspace", path), contentBytes(content));
    }
    for (const command of commands) await open.run(command);
    const verdict = checkAll(vector, await runCalls(vector, open.sandbox), twin);
    await checkAfter(vector, open);
    return verdict;
  } finally {
    await open.close();
  }
}

async function runCalls(vector: Vector, sandbox: Sandbox): Promise<Outcome[]> {
  const tools = createSandboxTools(sandbox, { locks: createPathLocks() });
  const controller = new AbortController();
  const run = (name: string, params: Record<string, unknown> | undefined) =>
    outcomeOf(
      tools.find((tool) => tool.name === name),
      expandParams(params),
      controller.signal,
    );
  if (vector.parallel) return Promise.all(vector.parallel.map((call) => run(call.tool, call.params)));
  if (vector.sequence) {
    const outcomes: Outcome[] = [];
    for (const call of vector.sequence) outcomes.push(await run(call.tool, call.params));
    return outcomes;
  }
  const { abort } = vector;
  if (abort && abort.afterMs === undefined) controller.abort();
  const running = run(vector.tool, vector.params);
  if (abort?.afterMs !== undefined) {
    const { reason } = abort;
    const value = reason?.error === undefined ? reason?.value : new Error(reason.error);
    setTimeout(() => (reason ? controller.abort(value) : controller.abort()), abort.afterMs);
  }
  return [await running];
}

async function outcomeOf(
  tool: DurableTool | undefined,
  params: Record<string, unknown>,
  signal: AbortSignal,
): Promise<Outcome> {
  if (tool === undefined) throw new Error("the sandbox has no such tool");
  try {
    const { content, details } = await tool.execute("call-1", params, signal);
    const [part] = content;
    return { text: part?.type === "text" ? part.text : "(no text part)", details };
  } catch (error) {
    return error instanceof Error
      ? { error: error.message, errorName: error.name }
      : { error: String(error), errorName: "" };
  }
}

function checkAll(vector: Vector, outcomes: readonly Outcome[], twin?: Vector): Verdict {
  const expected = vector.expect.results ?? [vector.expect];
  const verdicts = expected.map((each, index) => check(vector, each, outcomes[index] ?? {}, twin));
  return verdicts.includes("adapter text") ? "adapter text" : "passed";
}

/** What is right for a vector: our value where it differs from the recorded one. */
function acceptedFor({ id }: Vector, recorded: Expectation): readonly Expectation[] {
  const ours = deviations[id] ?? recorded;
  return Array.isArray(ours) ? ours : [ours as Expectation];
}

function check(vector: Vector, recorded: Expectation, outcome: Outcome, twin?: Vector): Verdict {
  const accepted = [...acceptedFor(vector, recorded), ...(twin ? acceptedFor(twin, twin.expect) : [])];
  if (accepted.some((each) => agrees(each, outcome))) return "passed";
  if (vector.adapterText && accepted.some((each) => (each.error === undefined) === (outcome.error === undefined))) {
    return "adapter text";
  }
  // A search of the driver's own refuses a pattern in its own words.
  if (twin && outcome.error?.startsWith("grep failed: ") && accepted.some(({ error }) => error !== undefined)) {
    return "adapter text";
  }
  throw new Error(`${vector.note}\n  accepted: ${excerpt(accepted)}\n  came out: ${excerpt(outcome)}`);
}

/** Both ends of a long value: a whole one of 50 000 characters tells a reader nothing. */
function excerpt(value: unknown): string {
  const text = inspect(value, { maxStringLength: null, breakLength: Number.POSITIVE_INFINITY });
  return text.length > 1500 ? `${text.slice(0, 1000)} ... ${text.slice(-400)}` : text;
}

function agrees(expected: Expectation, outcome: Outcome): boolean {
  if (expected.error !== undefined) {
    return outcome.error === expected.error && (expected.errorName ?? outcome.errorName) === outcome.errorName;
  }
  if (outcome.text === undefined || expected.text === undefined) return false;
  const sameDetails =
    expected.details === undefined || JSON.stringify(expected.details) === JSON.stringify(outcome.details);
  return sameDetails && sameText(expected.text, outcome.text, expected.order) && outcome.text.isWellFormed();
}

async function checkAfter({ id, after }: Vector, open: OpenSandbox): Promise<void> {
  for (const [path, state] of Object.entries(after?.files ?? {})) {
    const bytes = await open.bytesOf(resolvePath("/workspace", path));
    // Half a character matches nothing of ours, so the file stays.
    const wanted = id === "edit-surrogate-half" ? "x😀y" : state;
    if (typeof wanted === "string") expect(bytes && Buffer.from(bytes).toString(), path).toBe(wanted);
    else if ("absent" in wanted) expect(bytes, path).toBeUndefined();
    else if ("base64" in wanted) expect(bytes && Buffer.from(bytes).toString("base64"), path).toBe(wanted.base64);
    else expect(bytes && sha256(bytes), path).toBe(wanted.sha256);
  }
  if (after?.command !== undefined) expect(await open.run(after.command)).toBe(after.stdout);
}
