/**
 * The HTTP face of the local process: who may call, how much they may send, which verb answers.
 *
 * Listens on the loopback address only. A call needs the token, and a `Host` that names this machine: a page in a browser
 * that points a name of its own here is turned away, and so is every call with an `Origin`.
 */
import { createHash, timingSafeEqual } from "node:crypto";
import { mkdir } from "node:fs/promises";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import path from "node:path";
import type { LocalCommands } from "./local-commands.ts";
import * as files from "./local-files.ts";
import {
  type ExecCall,
  LOCAL_VERBS,
  type LocalFault,
  type LocalVerb,
  MAX_LOCAL_FILE_BYTES,
  MAX_LOCAL_LINE_BYTES,
  type PathCall,
  parseCall,
} from "./local-protocol.ts";
import { workspaceFolder } from "./workspace-folder.ts";

export interface LocalServerOptions {
  token: string;
  /** Where conversations work; `{id}` makes one folder a conversation. */
  folder: string;
  commands: LocalCommands;
}

const answerVerbs = {
  stat: files.stat,
  readdir: files.readdir,
  exists: files.exists,
  mkdir: files.mkdir,
  rm: files.rm,
  realPath: files.realPath,
};

class Refusal extends Error {
  readonly status: number;
  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** A text, or nothing where the field is not there. */
function parseText(line: Record<string, unknown>, name: string): string | undefined {
  const value = line[name];
  if (value === undefined || value === null) return undefined;
  if (typeof value !== "string") throw new Refusal(400, `${name} must be a text.`);
  return value;
}

function requireText(line: Record<string, unknown>, name: string): string {
  const value = parseText(line, name);
  if (value === undefined) throw new Refusal(400, `${name} is missing.`);
  return value;
}

function parsePathCall(line: Record<string, unknown>): PathCall {
  const target = requireText(line, "path");
  if (!path.isAbsolute(target)) throw new Refusal(400, "path must be absolute.");
  return { path: target, recursive: line.recursive === true, force: line.force === true };
}

function parseExecCall(line: Record<string, unknown>): ExecCall {
  const { env = {}, timeoutMs } = line;
  const isEnvironment = typeof env === "object" && env !== null;
  if (!isEnvironment || Object.values(env).some((value) => typeof value !== "string" && value !== null)) {
    throw new Refusal(400, "env must hold texts.");
  }
  if (timeoutMs !== undefined && typeof timeoutMs !== "number") throw new Refusal(400, "timeoutMs must be a number.");
  return {
    execution: requireText(line, "execution"),
    command: requireText(line, "command"),
    cwd: requireText(line, "cwd"),
    env: { ...env },
    timeoutMs,
    once: line.once === true,
  };
}

export function createLocalServer({ token, folder, commands }: LocalServerOptions): Server {
  const secret = digest(`Bearer ${token}`);

  function admit(request: IncomingMessage): LocalVerb {
    const { host = "", origin, authorization = "" } = request.headers;
    const port = request.socket.localPort;
    if (origin !== undefined || ![`127.0.0.1:${port}`, `localhost:${port}`].includes(host)) {
      throw new Refusal(403, "This process answers programs of its own machine only.");
    }
    if (!timingSafeEqual(digest(authorization), secret)) throw new Refusal(401, "The token is missing or wrong.");
    const verb = LOCAL_VERBS.find((each) => request.url === `/${each}`);
    if (verb === undefined || request.method !== "POST") throw new Refusal(404, "There is no such call.");
    return verb;
  }

  async function open(line: Record<string, unknown>): Promise<{ cwd: string }> {
    const given = parseText(line, "cwd");
    const own = workspaceFolder(folder, requireText(line, "id"));
    const cwd = given === undefined ? own : path.resolve(own, given);
    await mkdir(cwd, { recursive: true });
    return { cwd };
  }

  async function answer(verb: LocalVerb, body: Uint8Array): Promise<Uint8Array | object | undefined> {
    const { line, bytes } = parseCall(body);
    if (verb === "open") return open(line);
    if (verb === "exec") return commands.exec(parseExecCall(line));
    if (verb === "abort") {
      await commands.abort(requireText(line, "execution"));
      return {};
    }
    const call = parsePathCall(line);
    if (verb === "readFile") return files.readFile(call);
    if (verb === "writeFile") {
      await files.writeFile(call, bytes);
      return {};
    }
    return { value: await answerVerbs[verb](call) };
  }

  const server = createServer(async (request, response) => {
    try {
      const verb = admit(request);
      const result = await answer(verb, await readBody(request));
      if (result instanceof Uint8Array) send(response, 200, result, "application/octet-stream");
      else if (result === undefined) send(response, 202, JSON.stringify({ running: true }));
      else send(response, 200, JSON.stringify(result));
    } catch (error) {
      const status = error instanceof Refusal ? error.status : 422;
      // What was not read of a refused body ends with the connection.
      if (!request.complete) response.setHeader("connection", "close");
      send(response, status, JSON.stringify({ error: faultOf(error) }));
    }
  });
  // Node's own limit on a whole request would cut off no command, but a slow body it should.
  server.requestTimeout = 60_000;
  // A connection is never closed under a call that was just sent on it.
  server.keepAliveTimeout = 0;
  return server;
}

function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}

function faultOf(error: unknown): LocalFault {
  if (!(error instanceof Error)) return { message: String(error) };
  const code = "code" in error && typeof error.code === "string" ? { code: error.code } : {};
  return { message: error.message, ...code };
}

function send(response: ServerResponse, status: number, body: string | Uint8Array, type = "application/json"): void {
  response.writeHead(status, { "content-type": type, "content-length": Buffer.byteLength(body) });
  response.end(body);
}

async function readBody(request: IncomingMessage): Promise<Uint8Array> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request) {
    size += chunk.length;
    if (size > MAX_LOCAL_FILE_BYTES + MAX_LOCAL_LINE_BYTES) throw new Refusal(413, "The call is too large.");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
