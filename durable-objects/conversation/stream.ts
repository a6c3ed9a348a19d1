/**
 * Reading a conversation: the snapshot, pages of updates, and the live tail as long-poll or SSE. Reads never touch the
 * loop; they follow the journal, the only way out (J3).
 *
 * A live reader holds one offset and nothing else: bytes are made when it asks for them, so a slow reader costs no
 * memory, and one that is gone leaves nothing behind.
 *
 * Source: contract RUNTIME 1.6 to 1.8.
 */
import type { Timers } from "../protocol/clock.ts";
import { BerthError } from "../protocol/errors.ts";
import { LONG_POLL_MS, SSE_HEARTBEAT_MS, UPDATES_PAGE_BATCHES, UPDATES_PAGE_BYTES } from "../protocol/limits.ts";
import { renderOffset } from "../protocol/offset.ts";
import { ROOT_THREAD, type StoredRecord } from "../protocol/records.ts";
import type { ReadAnswer, UpdatesQuery } from "../protocol/rpc.ts";
import type { CheckpointChunk } from "../protocol/wire.ts";
import { chunksOf, type ProjectionContext } from "./projection/chunks.ts";
import { foldResponse } from "./projection/render-message.ts";
import { renderSnapshot } from "./projection/snapshot.ts";
import type { Instance } from "./store/instance.ts";
import type { Journal } from "./store/journal.ts";
import type { SubmissionQueue } from "./store/submission-queue.ts";

const JSON_TYPE = "application/json";
const HEARTBEAT = ": heartbeat\n\n";
const SNAPSHOT_PAGE_RECORDS = 200;
const SNAPSHOT_PIECE_UNITS = 64 * 1024;

interface Page {
  /** Chunks as JSON texts. */
  chunks: string[];
  next: number;
  isUpToDate: boolean;
}

export interface StreamParts {
  journal: Journal;
  queue: SubmissionQueue;
  timers: Timers;
  readInstance(): Instance | undefined;
}

export class ConversationStream {
  readonly #parts: StreamParts;

  constructor(parts: StreamParts) {
    this.#parts = parts;
  }

  readHead(): { offset: string } {
    this.#instance();
    return { offset: renderOffset(this.#parts.journal.head()) };
  }

  readHistory(): ReadAnswer {
    const { uid, incarnation } = this.#instance();
    const head = this.#parts.journal.head();
    const offset = renderOffset(head);
    const pieces = renderSnapshot({ conversationId: uid, offset, incarnation }, this.#recordsUpTo(head));
    return { body: byteStream(pieces), contentType: JSON_TYPE, offset, upToDate: true };
  }

  async readUpdates(query: UpdatesQuery): Promise<ReadAnswer> {
    const instance = this.#instance();
    const head = this.#parts.journal.head();
    if (query.after > head) {
      const meta = { offset: renderOffset(query.after), nextOffset: renderOffset(head) };
      throw new BerthError("stream_offset_gone", "The offset lies beyond the end of this stream.", {
        details: "Read the history again and go on from its offset.",
        meta,
      });
    }
    if (query.live === "sse") {
      return { body: this.#follow(instance, query.after), contentType: "text/event-stream" };
    }
    if (query.live === "long-poll" && query.after === head) await this.#change(LONG_POLL_MS).settled;
    const page = this.#page(instance, query.after);
    const answer: ReadAnswer = {
      body: `[${[checkpoint(instance), ...page.chunks].join(",")}]`,
      contentType: JSON_TYPE,
      offset: renderOffset(page.next),
    };
    if (page.isUpToDate) answer.upToDate = true;
    return answer;
  }

  #instance(): Instance {
    const instance = this.#parts.readInstance();
    if (!instance) throw new BerthError("stream_not_found", "There is no such conversation.");
    return instance;
  }

  #page(instance: Instance, after: number): Page {
    const { journal } = this.#parts;
    const context = this.#context(instance);
    const records = journal.read(ROOT_THREAD, after, UPDATES_PAGE_BATCHES);
    const chunks: string[] = [];
    let units = 0;
    let next = after;
    for (const record of records) {
      const texts = chunksOf(record, next, context).map((chunk) => JSON.stringify(chunk));
      units += texts.reduce((sum, text) => sum + text.length, 0);
      if (units > UPDATES_PAGE_BYTES && next !== after) return { chunks, next, isUpToDate: false };
      chunks.push(...texts);
      next = record.seq;
    }
    return { chunks, next, isUpToDate: next >= journal.head() };
  }

  #context(instance: Instance): ProjectionContext {
    const { journal, queue } = this.#parts;
    return {
      conversationId: instance.uid,
      readResponse(submissionId, upTo) {
        const fromSeq = queue.find(submissionId)?.inputSeq ?? 0;
        return foldResponse(submissionId, journal.readSubmission(ROOT_THREAD, submissionId, fromSeq, upTo));
      },
    };
  }

  *#recordsUpTo(head: number): Generator<StoredRecord> {
    let after = 0;
    for (;;) {
      const page = this.#parts.journal.read(ROOT_THREAD, after, SNAPSHOT_PAGE_RECORDS, head);
      yield* page;
      const last = page.at(-1);
      if (!last || page.length < SNAPSHOT_PAGE_RECORDS) return;
      after = last.seq;
    }
  }

  /** SSE frames from `after` on, without end. */
  #follow(instance: Instance, after: number): ReadableStream<Uint8Array> {
    const encoder = new TextEncoder();
    let position = after;
    let isFirst = true;
    let cancelWait: (() => void) | undefined;
    // The reader counts as one for as long as it is connected, also while it digests a frame.
    const leave = this.#parts.journal.watch(() => {});
    const nextFrames = async (): Promise<string> => {
      for (;;) {
        const page = this.#page(instance, position);
        const hasNews = page.next !== position;
        if (hasNews || isFirst) {
          const data = isFirst ? [checkpoint(instance), ...page.chunks] : page.chunks;
          isFirst = false;
          position = page.next;
          return dataFrame(data) + controlFrame(page);
        }
        const wait = this.#change(SSE_HEARTBEAT_MS);
        cancelWait = wait.cancel;
        const changed = await wait.settled;
        if (!changed) return HEARTBEAT + controlFrame({ ...page, isUpToDate: true });
      }
    };
    return byteSource({
      async pull(controller) {
        try {
          controller.enqueue(encoder.encode(await nextFrames()));
        } catch (error) {
          leave();
          throw error;
        }
      },
      cancel() {
        leave();
        cancelWait?.();
      },
    });
  }

  /** Resolves true at the next append, false after `ms` or on `cancel`. */
  #change(ms: number): { settled: Promise<boolean>; cancel: () => void } {
    let finish = (_changed: boolean): void => {};
    const settled = new Promise<boolean>((resolve) => {
      const unwatch = this.#parts.journal.watch(() => finish(true));
      const stopTimer = this.#parts.timers.after(ms, () => finish(false));
      finish = (changed) => {
        unwatch();
        stopTimer();
        resolve(changed);
      };
    });
    return { settled, cancel: () => finish(false) };
  }
}

function checkpoint(instance: Instance): string {
  const chunk: CheckpointChunk = { type: "stream-checkpoint", incarnation: instance.incarnation };
  return JSON.stringify(chunk);
}

function dataFrame(chunks: readonly string[]): string {
  return chunks.length === 0 ? "" : `event: data\ndata:[${chunks.join(",")}]\n\n`;
}

function controlFrame(page: Pick<Page, "next" | "isUpToDate">): string {
  const offset = renderOffset(page.next);
  const control = JSON.stringify({ streamNextOffset: offset, ...(page.isUpToDate && { upToDate: true }) });
  return `event: control\nid: ${offset}\ndata:${control}\n\n`;
}

/** A byte stream: the kind that crosses RPC. Node's types and workerd's disagree on its constructor. */
function byteSource(source: Omit<UnderlyingByteSource, "type">): ReadableStream<Uint8Array> {
  return new ReadableStream({ type: "bytes", ...source } as unknown as UnderlyingSource<Uint8Array>);
}

/** Text pieces as bytes, made as the reader asks for them. */
function byteStream(pieces: Generator<string>): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  return byteSource({
    pull(controller) {
      let text = "";
      while (text.length < SNAPSHOT_PIECE_UNITS) {
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
