/**
 * Reads a JSON body: bounded before it is parsed, whether or not its length was announced.
 *
 * Source: contract RUNTIME 1.3, 1.12 (body cap).
 */
import { BerthError } from "../../durable-objects/protocol/errors.ts";
import { MAX_BODY_BYTES, MAX_DRAINED_BODY_BYTES } from "../../durable-objects/protocol/limits.ts";

const JSON_TYPE = /^application\/json\s*(?:;|$)/i;

function tooLarge(): BerthError {
  return new BerthError("payload_too_large", "The body is larger than 20 MiB.", { meta: { maxBytes: MAX_BODY_BYTES } });
}

/**
 * Takes what is left of a refused body and drops it, up to a bound. A connection whose request is read half is torn
 * down, and the answer with it.
 */
async function drain(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<void> {
  for (let length = 0; length < MAX_DRAINED_BODY_BYTES; ) {
    const { done, value } = await reader.read();
    if (done) return;
    length += value.length;
  }
  await reader.cancel();
}

async function readBytes(body: ReadableStream<Uint8Array>): Promise<Uint8Array[]> {
  const pieces: Uint8Array[] = [];
  const reader = body.getReader();
  let length = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return pieces;
    length += value.length;
    if (length > MAX_BODY_BYTES) {
      pieces.length = 0;
      await drain(reader);
      throw tooLarge();
    }
    pieces.push(value);
  }
}

/** Told without reading, for the reason above. */
function hasBody(request: Request): boolean {
  return request.body !== null && request.headers.get("content-length") !== "0";
}

function parseJson(pieces: readonly Uint8Array[]): unknown {
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: false });
  try {
    const text = pieces.map((piece) => decoder.decode(piece, { stream: true })).join("") + decoder.decode();
    return JSON.parse(text);
  } catch {
    throw new BerthError("invalid_json", "The body is not valid JSON.");
  }
}

/** Throws `payload_too_large`, `unsupported_media_type` or `invalid_json`. */
export async function readJsonBody(request: Request): Promise<unknown> {
  if (Number(request.headers.get("content-length") ?? "0") > MAX_BODY_BYTES) throw tooLarge();
  if (!hasBody(request)) return parseJson([]);
  if (!JSON_TYPE.test(request.headers.get("content-type")?.trim() ?? "")) {
    throw new BerthError("unsupported_media_type", "The body must be sent as application/json.");
  }
  return parseJson(request.body === null ? [] : await readBytes(request.body));
}
