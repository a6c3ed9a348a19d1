/**
 * What the `local()` driver and the local process say to each other: the shapes of a call and the numbers both keep to.
 *
 * A call is `POST /<verb>` with `authorization: Bearer <token>`. Its body is one line of JSON and, for `writeFile`, the
 * bytes of the file behind it. Answers: 200 with JSON or with bytes (`readFile`, `exec`), 202 where a command still runs
 * (the same call again attaches), 422 with `{ error }` for what a shell or a file system refused, else the process's own
 * refusal.
 */

export const LOCAL_VERBS = [
  "open",
  "exec",
  "abort",
  "readFile",
  "writeFile",
  "stat",
  "readdir",
  "exists",
  "mkdir",
  "rm",
  "realPath",
] as const;
export type LocalVerb = (typeof LOCAL_VERBS)[number];

/** Of one call and of one answer; a file is read and written whole. */
export const MAX_LOCAL_FILE_BYTES = 32 * 1024 * 1024;
export const MAX_LOCAL_LINE_BYTES = 16 * 1024 * 1024;
/** How long one call waits for a command. */
export const EXEC_WAIT_MS = 20_000;

export interface OpenCall {
  /** The conversation; stands for `{id}` in the folder's name. */
  id: string;
  /** Instead of the process's folder; relative to it. */
  cwd?: string | undefined;
}

export interface ExecCall {
  /** Of `executionId`, or random with `once`. */
  execution: string;
  command: string;
  cwd: string;
  /** Over the base environment; `null` takes a variable away. */
  env: Record<string, string | null>;
  timeoutMs?: number | undefined;
  once?: boolean | undefined;
}

export interface PathCall {
  path: string;
  recursive?: boolean | undefined;
  force?: boolean | undefined;
}

export interface StatAnswer {
  isFile: boolean;
  isDirectory: boolean;
  isSymbolicLink: boolean;
  size: number;
  mtimeMs: number;
}

export interface LocalFault {
  message: string;
  code?: string;
}

const NEWLINE = 10;

export function renderCall(line: object, bytes?: Uint8Array): Uint8Array {
  const head = new TextEncoder().encode(`${JSON.stringify(line)}\n`);
  if (bytes === undefined) return head;
  const body = new Uint8Array(head.byteLength + bytes.byteLength);
  body.set(head);
  body.set(bytes, head.byteLength);
  return body;
}

/** The fields of a call's line, and what stands behind it. Throws where there is no such line. */
export function parseCall(body: Uint8Array): { line: Record<string, unknown>; bytes: Uint8Array } {
  const end = body.indexOf(NEWLINE);
  if (end < 0 || end > MAX_LOCAL_LINE_BYTES) throw new Error("The call has no line of JSON in front.");
  const line: unknown = JSON.parse(new TextDecoder().decode(body.subarray(0, end)));
  if (typeof line !== "object" || line === null) throw new Error("The call's line is no object.");
  return { line: { ...line }, bytes: body.subarray(end + 1) };
}
