/**
 * Writes one model step to the journal: deltas in batches while it streams, then the whole message, which replaces them
 * in one transaction (J2).
 *
 * Owns the text that is not yet in the journal. While somebody reads, the first seconds of a message are flushed often
 * and in small pieces, later and unread ones rarely and in large ones.
 *
 * Source: contract RUNTIME 1.8; ARCHITECTURE J2.
 */
import type { AssistantMessage } from "@earendil-works/pi-ai";
import type { Clock, Timers } from "../../protocol/clock.ts";
import {
  DELTA_IDLE_FLUSH_MS,
  DELTA_IDLE_FLUSH_UNITS,
  DELTA_LIVE_FLUSH_MS,
  DELTA_LIVE_FLUSH_UNITS,
  DELTA_LIVE_WINDOW_MS,
} from "../../protocol/limits.ts";
import type { DeltaRecord, DeltaSpan, StoredRecord } from "../../protocol/records.ts";
import { mergePieces, type TextPiece } from "../recovery/standing.ts";
import type { AttemptJournal } from "./ports.ts";

export interface StepWriterParts {
  submissionId: string;
  turnId: string;
  journal: AttemptJournal;
  clock: Clock;
  timers: Timers;
  /** Told when a flush by timer was refused: the attempt must stop. */
  onRefused(error: unknown): void;
}

export class StepWriter {
  readonly #parts: StepWriterParts;
  readonly #startedAt: number;
  #pending: TextPiece[] = [];
  #pendingUnits = 0;
  #span: { firstSeq: number; lastSeq: number } | undefined;
  #cancelTimer: (() => void) | undefined;

  constructor(parts: StepWriterParts) {
    this.#parts = parts;
    this.#startedAt = parts.clock.now();
  }

  add(kind: TextPiece["kind"], text: string): void {
    if (text === "") return;
    this.#pending.push({ kind, text });
    this.#pendingUnits += text.length;
    const { flushMs, flushUnits } = this.#pace();
    if (this.#pendingUnits >= flushUnits) this.#flush();
    else this.#cancelTimer ??= this.#parts.timers.after(flushMs, () => this.#flushByTimer());
  }

  /** The step is complete: the message becomes the fact and its deltas go. */
  complete(message: AssistantMessage, awaitsFinish = false): StoredRecord {
    const { submissionId, turnId, journal } = this.#parts;
    this.#stopTimer();
    const deltas = this.#close();
    const head = { type: "assistant", submissionId, turnId, message } as const;
    const record = { ...head, ...(deltas && { deltas }), ...(awaitsFinish && { awaitsFinish }) };
    return only(journal.append([record]));
  }

  /** The step came to nothing and will be tried again: what readers saw of it is withdrawn. */
  discard(reason: string): void {
    const { submissionId, turnId, journal } = this.#parts;
    this.#stopTimer();
    const deltas = this.#close();
    this.#pending = [];
    if (!deltas) return;
    journal.append([{ type: "assistant_discarded", submissionId, turnId, reason, deltas }]);
  }

  /** The step was cut: what is known of it stays as deltas, for the settlement or the next attempt to close. */
  cut(): void {
    this.#stopTimer();
    this.#flush();
  }

  #pace(): { flushMs: number; flushUnits: number } {
    const { journal, clock } = this.#parts;
    const isLive = journal.isWatched && clock.now() - this.#startedAt < DELTA_LIVE_WINDOW_MS;
    return isLive
      ? { flushMs: DELTA_LIVE_FLUSH_MS, flushUnits: DELTA_LIVE_FLUSH_UNITS }
      : { flushMs: DELTA_IDLE_FLUSH_MS, flushUnits: DELTA_IDLE_FLUSH_UNITS };
  }

  #flush(): void {
    this.#stopTimer();
    if (this.#pending.length === 0) return;
    const { submissionId, turnId, journal } = this.#parts;
    const bodies: DeltaRecord[] = mergePieces(this.#pending).map((piece, i) => ({
      type: "delta",
      submissionId,
      turnId,
      ...piece,
      ...(i === 0 && !this.#span && { first: true as const }),
    }));
    this.#pending = [];
    this.#pendingUnits = 0;
    const records = journal.append(bodies);
    const first = records[0];
    const last = records.at(-1);
    if (first && last) this.#span = { firstSeq: this.#span?.firstSeq ?? first.seq, lastSeq: last.seq };
  }

  #flushByTimer(): void {
    this.#cancelTimer = undefined;
    try {
      this.#flush();
    } catch (error) {
      this.#parts.onRefused(error);
    }
  }

  #close(): DeltaSpan | undefined {
    const tail = mergePieces(this.#pending);
    return this.#span && { ...this.#span, tail };
  }

  #stopTimer(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
  }
}

function only(records: readonly StoredRecord[]): StoredRecord {
  const record = records[0];
  if (!record) throw new Error("The journal gave no record for a completed step.");
  return record;
}
