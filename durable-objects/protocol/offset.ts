/**
 * Offsets on the wire: two 16-digit numbers joined by `_`, the first always zero. The second is the number of the
 * durable batch after which a reader wants to go on; `-1` is before everything. One journal record is one batch.
 *
 * Source: contract RUNTIME 1.6.
 */

const DIGITS = 16;
const ZERO = "0".repeat(DIGITS);
const PATTERN = /^0{16}_(\d{16})$/;

export const BEFORE_EVERYTHING = 0;

export function renderOffset(seq: number): string {
  return `${ZERO}_${String(seq).padStart(DIGITS, "0")}`;
}

/** The record number an offset names, or `undefined` when the text is no offset. */
export function parseOffset(text: string): number | undefined {
  if (text === "-1") return BEFORE_EVERYTHING;
  const match = PATTERN.exec(text);
  if (!match?.[1]) return undefined;
  const seq = Number(match[1]);
  return Number.isSafeInteger(seq) ? seq : undefined;
}
