/**
 * Reading a conversation: the snapshot, pages of updates, and the live tail as long-poll or SSE. Reads never touch the
 * loop; they follow the journal, the only way out (J3).
 *
 * A live reader holds one offset and nothing else: bytes are made when it asks for them, so a slow reader costs no
 * memory, and one that is gone leaves nothing behind.
 *
 * A reader follows the root thread: what other threads record neither moves an offset nor wakes anybody.
 *
 * Source: contract RUNTIME 1.6 to 1.8.
 */
import type { Timers } from "../protocol/clock.ts";
import { BerthError } from "../protocol/errors.ts";
import { parseMessageId } from "../protocol/ids.ts";
import { LONG_POLL_MS, SSE_HEARTBEAT_MS, UPDATES_PAGE_BATCHES, UPDATES_PAGE_BYTES } from "../protocol/limits.ts";
import { renderOffset } from "../protocol/offset.ts";
import { ROOT_THREAD, type StoredRecord } from "../protocol/records.ts";
import type { HistoryPageQuery, ReadAnswer, UpdatesQuery } from "../protocol/rpc.ts";
import type { CheckpointChunk } from "../protocol/wire.ts";
import { createByteStream, textPieceStream, textStream } from "./byte-source.ts";
import { chunksOf, type ProjectionContext } from "./projection/chunks.ts";
import { readHistoryPage } from "./projection/history-page.ts";
import { foldResponse } from "./projection/render-message.ts";
import { renderSnapshot } from "./projection/snapshot.ts";
import type { Instance } from "./store/instance.ts";
import type { Journal } from "./store/journal.ts";
import type { SubmissionQueue } from "./store/submission-queue.ts";

const JSON_TYPE = "application/json";
const HEARTBEAT = ": heartbeat\n\n";
const SNAPSHOT_PAGE_RECORDS = 200;

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
    return { offset: renderOffset(this.#parts.journal.headOf(ROOT_THREAD)) };
  }

  readHistory(): ReadAnswer {
    const { uid, incarnation } = this.#instance();
    const head = this.#parts.journal.headOf(ROOT_THREAD);
    const offset = renderOffset(head);
    // What is settled never changes and is read as it is sent. A response that is being written is read now: its deltas
    // may be gone a moment later, and the offset promises that they were seen.
    const openSeq = this.#parts.queue.running()?.inputSeq ?? head + 1;
    const open = this.#parts.journal.read(ROOT_THREAD, openSeq - 1, Number.MAX_SAFE_INTEGER, head);
    const records = chain(this.#recordsUpTo(openSeq - 1), open);
    const pieces = renderSnapshot({ conversationId: uid, offset, incarnation }, records);
    return { body: textPieceStream(pieces), contentType: JSON_TYPE, offset, upToDate: true };
  }

  /** The newest messages, or those before one; what is read follows the page. */
  readHistoryPage(query: HistoryPageQuery): ReadAnswer {
    const { uid, incarnation } = this.#instance();
    const { journal } = this.#parts;
    const head = journal.headOf(ROOT_THREAD);
    const before = query.before === undefined ? head + 1 : this.#positionOf(query.before);
    const { readResponse } = this.#context();
    const page = readHistoryPage(
      {
        readBack: (seq, limit) => journal.readBack(ROOT_THREAD, seq, limit),
        readResponse: (submissionId) => readResponse(submissionId, head),
      },
      before,
      query.limit,
    );
    const offset = renderOffset(head);
    const body = textStream(JSON.stringify({ v: 1, conversationId: uid, offset, incarnation, ...page }));
    return { body, contentType: JSON_TYPE, offset };
  }

  async readUpdates(query: UpdatesQuery): Promise<ReadAnswer> {
    const instance = this.#instance();
    const head = this.#parts.journal.headOf(ROOT_THREAD);
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
      body: textStream(`[${[checkpoint(instance), ...page.chunks].join(",")}]`),
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

  /** Number of the record at which a message stands. */
  #positionOf(messageId: string): number {
    const { journal, queue } = this.#parts;
    const origin = parseMessageId(messageId);
    const unknown = new BerthError("invalid_request", "The parameter before names no message of this conversation.");
    if (!origin) throw unknown;
    if (origin.kind === "record") return origin.seq;
    const inputSeq = queue.find(origin.submissionId)?.inputSeq;
    if (inputSeq === undefined) throw unknown;
    if (origin.kind === "input") return inputSeq;
    const first = journal.readFirstOfResponse(ROOT_THREAD, origin.submissionId, inputSeq);
    if (first === undefined) throw unknown;
    return first;
  }

  #page(instance: Instance, after: number): Page {
    const { journal } = this.#parts;
    const context: ProjectionContext = { conversationId: instance.uid, ...this.#context() };
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
    return { chunks, next, isUpToDate: next >= journal.headOf(ROOT_THREAD) };
  }

  #context(): Pick<ProjectionContext, "readResponse"> {
    const { journal, queue } = this.#parts;
    return {
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

  /** Resolves with what `read` gives, as soon as it gives something; `undefined` after `ms`. */
  async waitFor<T>(ms: number, read: () => T | undefined): Promise<T | undefined> {
    let isOver = false;
    let cancelWait = (): void => {};
    const stopTimer = this.#parts.timers.after(ms, () => {
      isOver = true;
      cancelWait();
    });
    try {
      for (;;) {
        const value = read();
        if (value !== undefined || isOver) return value;
        const wait = this.#change(ms);
        cancelWait = wait.cancel;
        await wait.settled;
      }
    } finally {
      stopTimer();
    }
  }

  /** SSE frames from `after` on, without end. */
  #follow(instance: Instance, after: number): ReadableStream<Uint8Array> {
    const encoder = new TextEncoder();
    let position = after;
    let isFirst = true;
    let cancelWait: (() => void) | undefined;
    // The reader counts as one for as long as it is connected, also while it digests a frame.
    const leave = this.#parts.journal.watch(ROOT_THREAD, () => {});
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
    return createByteStream({
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
      const unwatch = this.#parts.journal.watch(ROOT_THREAD, () => finish(true));
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

function* chain<T>(...parts: Iterable<T>[]): Generator<T> {
  for (const part of parts) yield* part;
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
