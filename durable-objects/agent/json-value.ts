/** Makes plain JSON of what an author hands over to be stored: the same value now as after a crash. */

/** A copy that has been through JSON. Throws a plain error for what JSON cannot hold, `undefined` included. */
export function toJsonValue(value: unknown): unknown {
  if (value === undefined) throw new Error("the value must not be undefined.");
  let text: string | undefined;
  try {
    text = JSON.stringify(value);
  } catch (error) {
    throw new Error(`the value is not JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
  if (text === undefined) throw new Error(`the value is not JSON: it is a ${typeof value}.`);
  return JSON.parse(text) as unknown;
}
