/**
 * An event stream of JSON on its way to pi: its lines end as every reader takes them, whatever the server ended them with
 * and wherever the network cut them; lines without data, which keep a connection open, are left out; and each event is
 * mended.
 *
 * What is no JSON goes on as it came, for pi to judge.
 */
import { parseJsonObject } from "./json-object.ts";

/** Changes an event that is against its protocol in place. A throw ends the response as broken. */
export type EventMender = (event: Record<string, unknown>) => void;

const LINE_END = /\r\n|\r|\n/;
const DATA = /^data: ?/;

/** The line as it goes on; none where it says nothing. */
function mendLine(line: string, mend: EventMender): string[] {
  if (line.startsWith(":")) return [];
  if (!DATA.test(line)) return [line];
  const text = line.replace(DATA, "");
  if (text.trim() === "") return [];
  const event = parseJsonObject(text);
  if (!event) return [line];
  mend(event);
  return [`data: ${JSON.stringify(event)}`];
}

export function mendEventStream(body: ReadableStream<Uint8Array>, mend: EventMender): ReadableStream<Uint8Array> {
  const decoder = new TextDecoder();
  const encoder = new TextEncoder();
  let unfinished = "";
  let isAfterCr = false;

  const render = (lines: readonly string[]): Uint8Array =>
    encoder.encode(lines.flatMap((line) => mendLine(line, mend).map((mended) => `${mended}\n`)).join(""));

  return body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        const decoded = decoder.decode(chunk, { stream: true });
        if (decoded === "") return;
        const text = isAfterCr && decoded.startsWith("\n") ? decoded.slice(1) : decoded;
        isAfterCr = decoded.endsWith("\r");
        const lines = text.split(LINE_END);
        lines[0] = unfinished + (lines[0] ?? "");
        unfinished = lines.pop() ?? "";
        if (lines.length > 0) controller.enqueue(render(lines));
      },
      flush(controller) {
        const last = unfinished + decoder.decode();
        if (last !== "") controller.enqueue(render([last]));
      },
    }),
  );
}
