/**
 * What a provider means by the reason it gives for stopping. Servers behind gateways use each other's words, and words of
 * their own; a reason that is none of a fault's names means that the model had finished.
 *
 * Source: contract RUNTIME 9 ("a stop reason and usable content").
 */

export type StopMeaning =
  /** The model had finished. */
  | "finished"
  /** The output limit cut it. */
  | "length"
  /** The provider does not let the model say it. */
  | "refused"
  /** The window is full. */
  | "overflow"
  /** Something broke at the provider's. */
  | "fault";

const MEANINGS: readonly (readonly [RegExp, StopMeaning])[] = [
  [/context/i, "overflow"],
  [/filter|safety|refus|sensitive|prohibit|recitation|blocklist|spii/i, "refused"],
  [/error|abort|cancel|time_?out|fail|insufficient|overload|interrupt/i, "fault"],
  [/length|max|limit|trunc/i, "length"],
];

export function readStopReason(reason: string): StopMeaning {
  return MEANINGS.find(([pattern]) => pattern.test(reason))?.[1] ?? "finished";
}
