/**
 * Byte streams made as their reader asks: the kind that crosses RPC, with nothing held between two pulls.
 */

const MAX_RPC_TEXT_UNITS = 4 * 1024 * 1024;
const PIECE_UNITS = 64 * 1024;

/** Node's types and workerd's disagree on the constructor. */
export function createByteStream(source: Omit<UnderlyingByteSource, "type">): ReadableStream<Uint8Array> {
  return new ReadableStream({ type: "bytes", ...source } as unknown as UnderlyingSource<Uint8Array>);
}

/** A stream of the given pieces, one a pull. */
export function byteSource(pieces: Iterator<Uint8Array>): ReadableStream<Uint8Array> {
  return createByteStream({
    pull(controller) {
      const next = pieces.next();
      if (next.done) controller.close();
      else controller.enqueue(next.value);
    },
  });
}

/** A text on its way over RPC: as a stream where it is long, since a message may have 32 MiB and a unit counts two bytes. */
export function textStream(text: string): string | ReadableStream<Uint8Array> {
  return text.length <= MAX_RPC_TEXT_UNITS ? text : textPieceStream([text][Symbol.iterator]());
}

/** Text pieces as bytes, several small ones a pull. */
export function textPieceStream(pieces: Iterator<string>): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  return createByteStream({
    pull(controller) {
      let text = "";
      while (text.length < PIECE_UNITS) {
        const next = pieces.next();
        if (next.done) {
          if (text !== "") controller.enqueue(encoder.encode(text));
          controller.close();
          return;
        }
        text += next.value;
      }
      controller.enqueue(encoder.encode(text));
    },
  });
}
