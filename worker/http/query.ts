/** Query parameters as routes read them: once each, whole numbers within bounds. */
import { BerthError } from "../../durable-objects/protocol/errors.ts";

export function invalid(message: string): BerthError {
  return new BerthError("invalid_request", message);
}

/** A parameter that may stand once. */
export function readOnce(query: URLSearchParams, name: string): string | undefined {
  const values = query.getAll(name);
  if (values.length > 1) throw invalid(`The parameter ${name} must stand only once.`);
  return values[0];
}

/** A whole number from 1 to `max`; `undefined` where the parameter is absent. */
export function readCount(query: URLSearchParams, name: string, max: number): number | undefined {
  const text = readOnce(query, name);
  if (text === undefined) return undefined;
  const count = Number(text);
  if (!/^\d+$/.test(text) || count < 1 || count > max) {
    throw invalid(`The parameter ${name} must be a whole number from 1 to ${max}.`);
  }
  return count;
}
