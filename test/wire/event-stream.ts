/** A reader of server-sent events, frame by frame, as the standard says. */

export interface EventFrame {
  event: string;
  data: string;
  id?: string;
}

/** Frames of a response body; a comment comes as a frame with the event `:`. Ends when the server ends. */
export async function* readEventStream(body: ReadableStream<Uint8Array>): AsyncGenerator<EventFrame, void, void> {
  const decoder = new TextDecoder();
  let rest = "";
  let frame: { event?: string; data: string[]; id?: string } = { data: [] };
  for await (const bytes of body) {
    rest += decoder.decode(bytes, { stream: true });
    // A trailing CR may be the half of a CRLF.
    const lines = rest.split(/\r\n|\n|\r(?!$)/);
    rest = lines.pop() ?? "";
    for (const line of lines) {
      if (line === "") {
        if (frame.event !== undefined || frame.data.length > 0) yield finish(frame);
        frame = { data: [] };
        continue;
      }
      const [, name = "", value = ""] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? [];
      if (name === "") yield { event: ":", data: value };
      else if (name === "data") frame.data.push(value);
      else if (name === "event") frame.event = value;
      else if (name === "id") frame.id = value;
    }
  }
}

function finish(frame: { event?: string; data: string[]; id?: string }): EventFrame {
  const { event = "message", data, id } = frame;
  return { event, data: data.join("\n"), ...(id === undefined ? {} : { id }) };
}
