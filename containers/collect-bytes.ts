/** Reads a stream to its end and keeps its first `maxBytes`; what comes after is read and dropped. */
export async function collectBytes(stream: ReadableStream<Uint8Array> | null, maxBytes: number): Promise<Uint8Array> {
  const kept: Uint8Array[] = [];
  let size = 0;
  if (stream) {
    for await (const chunk of stream) {
      const room = maxBytes - size;
      if (room <= 0) continue;
      const part = chunk.length > room ? chunk.slice(0, room) : chunk;
      kept.push(part);
      size += part.length;
    }
  }
  if (kept.length === 1 && kept[0]) return kept[0];
  const whole = new Uint8Array(size);
  let at = 0;
  for (const part of kept) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
