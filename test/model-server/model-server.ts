/**
 * A model server on loopback that speaks OpenAI's chat completions and Anthropic's Messages, answers from scripts and
 * checks every request strictly.
 *
 * Owns the scripts, the record of all requests and the open connections. A request without a script, or more requests
 * than a script has turns, is answered with a status no client retries, and is a problem of that request.
 */
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { chatProtocol } from "./chat-protocol.ts";
import { createEventWriter, pauseFor } from "./event-writer.ts";
import { messagesProtocol } from "./messages-protocol.ts";
import {
  type ChatRequest,
  type ModelTurn,
  type RecordedRequest,
  readScriptKey,
  spokenText,
  type TurnSource,
} from "./script.ts";
import type { WireProtocol } from "./wire-protocol.ts";

const PROTOCOLS: readonly WireProtocol[] = [chatProtocol, messagesProtocol];
const NEVER = new Promise<never>(() => {});
const DEFAULT_WAIT_MS = 20_000;

interface Script {
  turns: TurnSource;
  used: number;
}

export class ModelServer {
  readonly requests: RecordedRequest[] = [];
  readonly #scripts = new Map<string, Script>();
  readonly #watchers = new Set<() => void>();
  readonly #server: Server;

  private constructor() {
    this.#server = createServer((request, response) => {
      this.#serve(request, response).catch((error: unknown) => response.destroy(error as Error));
    });
  }

  static async start(port = 0): Promise<ModelServer> {
    const server = new ModelServer();
    server.#server.listen(port, "127.0.0.1");
    await once(server.#server, "listening");
    return server;
  }

  /** What `ANTHROPIC_BASE_URL` is set to. */
  get origin(): string {
    const address = this.#server.address();
    if (typeof address !== "object" || address === null) throw new Error("The model server is not listening");
    return `http://127.0.0.1:${address.port}`;
  }

  /** What `OPENAI_BASE_URL` is set to. */
  get baseUrl(): string {
    return `${this.origin}/v1`;
  }

  script(key: string, turns: TurnSource): void {
    this.#scripts.set(key, { turns, used: 0 });
  }

  requestsOf(key: string): RecordedRequest[] {
    return this.requests.filter((request) => request.key === key);
  }

  /** Every problem of every request of a script; empty = a fussy provider would have taken them all. */
  problemsOf(key: string): string[] {
    return this.requestsOf(key).flatMap((request) =>
      request.problems.map((text) => `request ${request.number}: ${text}`),
    );
  }

  /** Resolves with the `count`-th request of a script once it has come in, in state `state` where that is given. */
  async waitForRequest(key: string, count = 1, state?: RecordedRequest["state"]): Promise<RecordedRequest> {
    const end = Date.now() + DEFAULT_WAIT_MS;
    for (;;) {
      const request = this.requestsOf(key)[count - 1];
      if (request && (state === undefined || request.state === state)) return request;
      const left = end - Date.now();
      if (left <= 0) throw new Error(`Model request ${count} of ${key} did not come${state ? ` to be ${state}` : ""}`);
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#watchers.add(resolve);
      const timer = setTimeout(resolve, left);
      await promise;
      clearTimeout(timer);
      this.#watchers.delete(resolve);
    }
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    if (this.#server.listening) await once(this.#server, "close");
  }

  #changed(): void {
    for (const watcher of this.#watchers) watcher();
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const { pathname } = new URL(request.url ?? "", this.origin);
    const protocol = PROTOCOLS.find(({ path }) => path.test(pathname));
    if (request.method !== "POST" || !protocol) {
      sendJson(response, 404, { error: { message: "no such route" } });
      return;
    }
    const body: ChatRequest = JSON.parse(Buffer.concat(chunks).toString("utf8"));
    const record: RecordedRequest = {
      number: this.requests.length,
      key: readScriptKey(body),
      body,
      at: Date.now(),
      headers: request.headers,
      problems: protocol.check(body),
      state: "open",
    };
    this.requests.push(record);
    response.once("close", () => {
      record.state = response.writableFinished ? "answered" : "gone";
      this.#changed();
    });
    this.#changed();
    const turn = await this.#nextTurn(record);
    record.answer = spokenText(turn);
    await answer(response, protocol, record, turn);
  }

  async #nextTurn(record: RecordedRequest): Promise<ModelTurn> {
    const script = record.key === undefined ? undefined : this.#scripts.get(record.key);
    const turn = script && (typeof script.turns === "function" ? script.turns(record) : script.turns[script.used++]);
    if (turn) return turn;
    const problem = script ? "the script has no turn left" : "no script answers this request";
    record.problems.push(problem);
    return { fault: { kind: "http", status: 400, body: { error: { message: problem, type: "unscripted" } } } };
  }
}

function sendJson(response: ServerResponse, status: number, body: unknown, headers: Record<string, string> = {}): void {
  response.writeHead(status, { "content-type": "application/json", ...headers });
  response.end(typeof body === "string" ? body : JSON.stringify(body));
}

async function answer(
  response: ServerResponse,
  protocol: WireProtocol,
  record: RecordedRequest,
  turn: ModelTurn,
): Promise<void> {
  const { fault } = turn;
  if (turn.pause) await pauseFor(turn.pause, response);
  if (response.destroyed) return;
  if (fault?.kind === "hang" && fault.after === "request") return pauseFor({ gate: NEVER }, response);
  if (fault?.kind === "cut" && fault.after === "request") {
    response.destroy();
    return;
  }
  if (fault?.kind === "http") {
    const body = fault.body ?? { error: { message: `scripted ${fault.status}`, type: "scripted" } };
    sendJson(response, fault.status, body, fault.headers);
    return;
  }
  if (!record.body.stream) {
    if (protocol.renderWhole) sendJson(response, 200, protocol.renderWhole(record, turn));
    else sendJson(response, 400, { error: { message: "only streams", type: "invalid_request_error" } });
    return;
  }
  response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-store" });
  response.flushHeaders();
  await answerStream(response, protocol, record, turn);
}

async function answerStream(
  response: ServerResponse,
  protocol: WireProtocol,
  record: RecordedRequest,
  turn: ModelTurn,
): Promise<void> {
  const { fault } = turn;
  const writer = createEventWriter(response, turn);
  if (fault?.kind === "raw") {
    writer.raw(fault.sse);
  } else {
    const reached = fault && "after" in fault ? fault.after : undefined;
    if (reached !== "headers") await protocol.streamText(writer, record, turn);
    if (reached === "call") protocol.streamHalfCall(writer, record, turn);
    if (fault?.kind === "error") protocol.streamFault(writer, fault.error);
    if (!fault && !response.destroyed) protocol.streamEnd(writer, record, turn);
  }
  await writer.flush();
  if (fault?.kind === "hang") return pauseFor({ gate: NEVER }, response);
  if (fault?.kind === "cut") {
    // What was written goes out first; the cut comes behind it.
    await pauseFor({ waitMs: 20 }, response);
    response.destroy();
    return;
  }
  response.end();
}
