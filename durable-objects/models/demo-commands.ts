/**
 * The command language of `scripted/demo`: lines of a user message that become tool calls.
 *
 * `/tool {json}` gives any tool its arguments as they are; the short forms below save typing. A line `& /tool ...` joins
 * the line before it in one batch of parallel calls. Lines that are no command are passed over.
 *
 * Source: contract RUNTIME 9.
 */
import { parseJsonObject } from "./json-object.ts";
import type { ScriptedCall } from "./scripted-stream.ts";

export type DemoCall = Omit<ScriptedCall, "id">;

/** What is said, then the calls that start together; the last step of a message may have no calls. */
export interface DemoStep {
  say: string[];
  calls: DemoCall[];
}

type Arguments = ScriptedCall["arguments"];

const LINE = /^(&\s+)?\/([A-Za-z][\w-]*)(?:[ \t]+(.*))?$/;
const WHOLE_NUMBER = /^\d+$/;

/** The first word, and what stands behind it. */
function splitWord(text: string): [string, string] {
  const match = /^(\S+)\s*(.*)$/s.exec(text);
  return match ? [match[1] ?? "", match[2] ?? ""] : ["", ""];
}

function withOptional(required: Arguments, name: string, value: string): Arguments {
  return value === "" ? required : { ...required, [name]: value };
}

function readArguments(rest: string): Arguments {
  const [path, numbers] = splitWord(rest);
  const [offset = "", limit = ""] = numbers.split(/\s+/);
  const args: Record<string, string | number> = { path };
  if (WHOLE_NUMBER.test(offset)) args.offset = Number(offset);
  if (WHOLE_NUMBER.test(limit)) args.limit = Number(limit);
  return args;
}

function editArguments(rest: string): Arguments {
  const [path, change] = splitWord(rest);
  const arrow = change.indexOf(" => ");
  if (arrow === -1) return { path, oldText: change };
  return { path, oldText: change.slice(0, arrow), newText: change.slice(arrow + " => ".length) };
}

interface ShortForm {
  tool: string;
  parse(rest: string): Arguments;
}

const SHORT_FORMS: Readonly<Record<string, ShortForm>> = {
  read: { tool: "read", parse: readArguments },
  write: {
    tool: "write",
    parse(rest) {
      const [path, content] = splitWord(rest);
      return { path, content };
    },
  },
  edit: { tool: "edit", parse: editArguments },
  bash: { tool: "bash", parse: (rest) => ({ command: rest }) },
  grep: {
    tool: "grep",
    parse(rest) {
      const [pattern, path] = splitWord(rest);
      return withOptional({ pattern }, "path", path);
    },
  },
  glob: {
    tool: "glob",
    parse(rest) {
      const [pattern, path] = splitWord(rest);
      return withOptional({ pattern }, "path", path);
    },
  },
  task: {
    tool: "task",
    parse(rest) {
      const [agent, prompt] = splitWord(rest);
      return { prompt, agent };
    },
  },
  skill: { tool: "activate_skill", parse: (rest) => ({ name: rest }) },
};

function parseCall(name: string, rest: string, tools: readonly string[]): DemoCall | undefined {
  // What was parsed from JSON holds only JSON values.
  const json = parseJsonObject(rest) as Arguments | undefined;
  const form = Object.hasOwn(SHORT_FORMS, name) ? SHORT_FORMS[name] : undefined;
  if (form === undefined) return json !== undefined && tools.includes(name) ? { name, arguments: json } : undefined;
  if (json !== undefined) return { name: form.tool, arguments: json };
  const isBrokenJson = rest.startsWith("{") && form.tool !== "bash";
  if (isBrokenJson) return { name: form.tool, arguments: {}, argumentsError: `Not a JSON object: ${rest}` };
  return { name: form.tool, arguments: form.parse(rest) };
}

function parseSay(rest: string): string {
  const text = parseJsonObject(rest)?.text;
  return typeof text === "string" ? text : rest;
}

/** The steps a message asks for, in order; none when it holds no command. `tools` are the names the model was offered. */
export function parseDemoCommands(text: string, tools: readonly string[]): DemoStep[] {
  const steps: DemoStep[] = [];
  let open: DemoStep = { say: [], calls: [] };
  for (const line of text.split(/\r\n|\r|\n/)) {
    const match = LINE.exec(line.trim());
    if (!match) continue;
    const joins = match[1] !== undefined;
    const name = match[2] ?? "";
    const rest = match[3] ?? "";
    if (name === "say") {
      if (open.calls.length > 0 && !joins) {
        steps.push(open);
        open = { say: [], calls: [] };
      }
      open.say.push(parseSay(rest));
      continue;
    }
    const call = parseCall(name, rest, tools);
    if (call === undefined) continue;
    if (open.calls.length > 0 && !joins) {
      steps.push(open);
      open = { say: [], calls: [] };
    }
    open.calls.push(call);
  }
  if (open.say.length > 0 || open.calls.length > 0) steps.push(open);
  return steps;
}
