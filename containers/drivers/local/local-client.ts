/**
 * Calls to the local process, each with a deadline. An answer 422 becomes the error it carries; a process that does not
 * answer becomes one sentence that says how to start it.
 */
import { type LocalFault, type LocalVerb, renderCall } from "../../local/local-protocol.ts";

const CALL_LIMIT_MS = 30_000;

export interface LocalAddress {
  url: string;
  token: string;
}

/** The process is not there, or is another one: nothing is known of what was asked. */
export class LocalUnreachableError extends Error {
  override readonly name = "LocalUnreachableError";
}

export interface LocalClient {
  /** `undefined`: the command still runs (202). */
  askBytes(verb: LocalVerb, line: object): Promise<Uint8Array | undefined>;
  ask(verb: LocalVerb, line: object, bytes?: Uint8Array): Promise<Record<string, unknown>>;
}

export function createLocalClient({ url, token }: LocalAddress): LocalClient {
  async function call(
    verb: LocalVerb,
    line: object,
    bytes?: Uint8Array,
  ): Promise<{ status: number; body: Uint8Array }> {
    let status: number;
    let body: Uint8Array;
    try {
      const response = await fetch(`${url}/${verb}`, {
        method: "POST",
        headers: { authorization: `Bearer ${token}`, "content-type": "application/octet-stream" },
        body: renderCall(line, bytes),
        signal: AbortSignal.timeout(CALL_LIMIT_MS),
      });
      status = response.status;
      body = new Uint8Array(await response.arrayBuffer());
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      throw new LocalUnreachableError(
        `The local sandbox at ${url} does not answer (${why}). Run \`npm run start:local\`.`,
      );
    }
    if (status === 422) throw faultError(parseJson(body));
    if (status >= 400) {
      throw new LocalUnreachableError(
        `The local sandbox at ${url} refuses the call: ${faultError(parseJson(body)).message}`,
      );
    }
    return { status, body };
  }

  return {
    async askBytes(verb, line) {
      const { status, body } = await call(verb, line);
      return status === 202 ? undefined : body;
    },
    async ask(verb, line, bytes) {
      return parseJson((await call(verb, line, bytes)).body);
    },
  };
}

function parseJson(body: Uint8Array): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(new TextDecoder().decode(body));
    return typeof value === "object" && value !== null ? { ...value } : {};
  } catch {
    return {};
  }
}

/** The error as it was thrown over there, by message and code. */
function faultError({ error }: Record<string, unknown>): Error {
  const { message = "no reason given", code } = (error ?? {}) as Partial<LocalFault>;
  return code === undefined ? new Error(message) : Object.assign(new Error(message), { code });
}
