/**
 * Which writes of agent code belong to what: each tool call and each event hook callback is a seam of its own, and what is
 * written inside it becomes durable with the record that ends it, or never was.
 *
 * Owns the writes of one attempt that are not durable yet. Updaters see them all in write order; of two seams that write
 * one name the later write stays, whichever seam ends first. The seam a caller is in is told by its asynchronous context,
 * so that a write which comes after its seam has ended finds none, wherever it was started.
 *
 * Source: contract RUNTIME 4.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import { canonicalJson } from "./canonical-json.ts";
import type { Seam } from "./turn/ports.ts";

interface Write {
  order: number;
  value: unknown;
}

export interface StateWrite {
  name: string;
  value: unknown;
}

export type ReadState = (name: string) => { value: unknown } | undefined;

/** One for all attempts of the isolate: an instance of its own would cost every promise of every attempt. */
const current = new AsyncLocalStorage<OwnedSeam>();

class OwnedSeam implements Seam {
  readonly owner: WriteSeams;
  readonly writes = new Map<string, Write>();
  isOpen = true;

  constructor(owner: WriteSeams) {
    this.owner = owner;
  }
}

export class WriteSeams {
  readonly #readState: ReadState;
  /** Seams whose writes are not durable yet. */
  readonly #pending = new Set<OwnedSeam>();
  readonly #calls = new Map<string, OwnedSeam>();
  /** Order of the last durable write of each name. */
  readonly #durable = new Map<string, number>();
  #order = 0;

  /** @param readState the durable value. */
  constructor(readState: ReadState) {
    this.#readState = readState;
  }

  open(): Seam {
    const seam = new OwnedSeam(this);
    this.#pending.add(seam);
    return seam;
  }

  /** A seam whose writes are taken with the call's result. */
  openCall(toolCallId: string): Seam {
    const seam = this.#own(this.open());
    this.#calls.set(toolCallId, seam);
    return seam;
  }

  run<T>(seam: Seam, work: () => T): T {
    return current.run(this.#own(seam), work);
  }

  close(seam: Seam): void {
    this.#own(seam).isOpen = false;
  }

  discard(seam: Seam): void {
    const own = this.#own(seam);
    own.isOpen = false;
    own.writes.clear();
    this.#pending.delete(own);
  }

  /** Whether the caller is inside a seam of this attempt that has not ended. */
  isInside(): boolean {
    const seam = current.getStore();
    return seam?.owner === this && seam.isOpen;
  }

  /** Buffers a write of the seam the caller is in; one that changes nothing is none. */
  write(name: string, update: (previous: { value: unknown } | undefined) => unknown): void {
    const seam = current.getStore();
    if (seam?.owner !== this || !seam.isOpen) throw new Error(`State "${name}" was written outside of any seam.`);
    const { value: previous, writer } = this.#latest(name);
    const value = update(previous);
    // What another seam has buffered may still come to nothing: the same value is then a write of this one's own.
    const isCertain = writer === undefined || writer === seam;
    if (isCertain && previous && canonicalJson(previous.value) === canonicalJson(value)) return;
    seam.writes.set(name, { order: ++this.#order, value });
  }

  /** Gives the writes that are to be stored with the record which ends the seam. */
  take(seam: Seam): StateWrite[] {
    const own = this.#own(seam);
    own.isOpen = false;
    this.#pending.delete(own);
    const standing = [...own.writes].filter(([name, { order }]) => order > (this.#durable.get(name) ?? 0));
    for (const [name, { order }] of standing) this.#durable.set(name, order);
    return standing.map(([name, { value }]) => ({ name, value }));
  }

  /** The same for the seam of a call; a call that had none has written nothing. */
  takeCall(toolCallId: string): StateWrite[] {
    const seam = this.#calls.get(toolCallId);
    this.#calls.delete(toolCallId);
    return seam ? this.take(seam) : [];
  }

  /** The last write of a name, durable or not. */
  #latest(name: string): { value: { value: unknown } | undefined; writer?: OwnedSeam } {
    let last: { write: Write; writer: OwnedSeam } | undefined;
    for (const writer of this.#pending) {
      const write = writer.writes.get(name);
      if (write && write.order > (last?.write.order ?? this.#durable.get(name) ?? 0)) last = { write, writer };
    }
    if (!last) return { value: this.#readState(name) };
    // An updater is author's code: it may change what it is given.
    return { value: { value: structuredClone(last.write.value) }, writer: last.writer };
  }

  #own(seam: Seam): OwnedSeam {
    if (!(seam instanceof OwnedSeam) || seam.owner !== this) throw new Error("The seam belongs to another attempt.");
    return seam;
  }
}
