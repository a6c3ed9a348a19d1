/** Live readers of a simulated conversation, and its snapshot. */
import type { Engine } from "../../durable-objects/conversation/engine.ts";
import type { WireSnapshot } from "../../durable-objects/protocol/wire.ts";
import { reduceChunks } from "./reduce-chunks.ts";

async function readText(body: string | ReadableStream<Uint8Array>): Promise<string> {
  return typeof body === "string" ? body : new Response(body).text();
}

export async function readSnapshot(engine: Engine): Promise<WireSnapshot> {
  return JSON.parse(await readText((await engine.stream.readHistory()).body)) as WireSnapshot;
}

/** Follows the updates from the beginning or from a snapshot, now and then, across crashes. */
export class SimulatedReader {
  readonly #startsFromSnapshot: boolean;
  #after: number | undefined;
  #state: ReturnType<typeof reduceChunks> = { messages: [], settlements: [] };

  constructor(startsFromSnapshot: boolean) {
    this.#startsFromSnapshot = startsFromSnapshot;
  }

  get messages(): WireSnapshot["messages"] {
    return this.#state.messages;
  }

  async poll(engine: Engine): Promise<void> {
    if (!engine.readInstance()) return;
    if (this.#after === undefined && this.#startsFromSnapshot) {
      const snapshot = await readSnapshot(engine);
      this.#state = { messages: snapshot.messages, settlements: [] };
      this.#after = Number(snapshot.offset.slice(-16));
    }
    for (;;) {
      const page = await engine.stream.readUpdates({ after: this.#after ?? 0, live: "none" });
      this.#state = reduceChunks(JSON.parse(await readText(page.body)) as unknown[], this.#state);
      this.#after = Number(page.offset?.slice(-16));
      if (page.upToDate) return;
    }
  }
}
