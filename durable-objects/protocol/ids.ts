/**
 * Identifiers: `<prefix>_<ulid>`, sortable by creation time. Message ids derive from the submission they belong to, so
 * that they need no state of their own and survive every crash.
 *
 * Source: contract RUNTIME 1.3, 1.4, 1.7, 1.11.
 */

const ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const TIME_LENGTH = 10;
const RANDOM_LENGTH = 16;

export type IdPrefix = "sub" | "inst" | "inc" | "err" | "call" | "turn";

export interface Ids {
  next(prefix: IdPrefix): string;
}

function renderUlid(now: number, random: Uint8Array): string {
  let time = "";
  for (let rest = now, i = 0; i < TIME_LENGTH; i++) {
    time = ALPHABET.charAt(rest % 32) + time;
    rest = Math.floor(rest / 32);
  }
  let tail = "";
  for (const byte of random) tail += ALPHABET.charAt(byte % 32);
  return time + tail;
}

export const systemIds: Ids = {
  next(prefix) {
    return `${prefix}_${renderUlid(Date.now(), crypto.getRandomValues(new Uint8Array(RANDOM_LENGTH)))}`;
  },
};

/** The submission's own part, shared by every id derived from it. */
function stem(submissionId: string): string {
  return submissionId.slice("sub_".length);
}

/** Id of the message a submission put in. */
export function inputMessageId(submissionId: string): string {
  return `msg_in_${stem(submissionId)}`;
}

/** Id of the one assistant message that holds a submission's whole response. */
export function responseMessageId(submissionId: string): string {
  return `msg_out_${stem(submissionId)}`;
}

/** Id of a message that comes from a record of its own (a signal, an advisory). */
export function recordMessageId(seq: number): string {
  return `msg_rec_${seq}`;
}

export type MessageOrigin =
  | { kind: "input"; submissionId: string }
  | { kind: "response"; submissionId: string }
  | { kind: "record"; seq: number };

/** Where a message comes from, told from its id; `undefined` for a text that is no message id. */
export function parseMessageId(id: string): MessageOrigin | undefined {
  const match = /^msg_(in|out|rec)_(.+)$/.exec(id);
  const [, kind, rest] = match ?? [];
  if (kind === undefined || rest === undefined) return undefined;
  if (kind === "rec") return /^\d{1,15}$/.test(rest) ? { kind: "record", seq: Number(rest) } : undefined;
  return { kind: kind === "in" ? "input" : "response", submissionId: `sub_${rest}` };
}
