/**
 * How metadata of a message adds up: plain objects merge at every depth, a later value wins. The public clients merge the
 * same way, so that a snapshot equals what a live reader holds.
 *
 * Source: contract RUNTIME 1.7, 1.8, 4.
 */

export type Metadata = Record<string, unknown>;

/** Keys that would reach into an object's prototype somewhere down the line. */
const FORBIDDEN_KEYS: readonly string[] = ["__proto__", "constructor", "prototype"];

function isObject(value: unknown): value is Metadata {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Both are plain JSON. */
export function mergeMetadata(base: Metadata, next: Metadata): Metadata {
  const merged = { ...base };
  for (const [key, value] of Object.entries(next)) {
    const known = merged[key];
    merged[key] = isObject(known) && isObject(value) ? mergeMetadata(known, value) : value;
  }
  return merged;
}

/** A copy of plain JSON without the keys that no client may be sent. */
export function withoutForbiddenKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutForbiddenKeys);
  if (!isObject(value)) return value;
  const kept = Object.entries(value).filter(([key]) => !FORBIDDEN_KEYS.includes(key));
  return Object.fromEntries(kept.map(([key, inner]) => [key, withoutForbiddenKeys(inner)]));
}
