/** Values as they travel between a suite in Node and the bridge: JSON, with bytes, dates and absent values kept. */

export interface BridgeCall {
  sandbox: string;
  verb: string;
  args: unknown[];
  cwd: string;
  sleepAfterMs?: number;
  /** Under which `abort` finds a command. */
  callId?: string;
}

export interface BridgeError {
  name: string;
  message: string;
  type?: unknown;
  code?: unknown;
}

export function encodeValue(value: unknown): unknown {
  if (value instanceof Uint8Array) return { $base64: Buffer.from(value).toString("base64") };
  if (value instanceof Date) return { $date: value.getTime() };
  if (Array.isArray(value)) return value.map(encodeValue);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, encodeValue(each)]));
}

export function decodeValue(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(decodeValue);
  if (typeof value !== "object" || value === null) return value;
  if ("$base64" in value) return new Uint8Array(Buffer.from(String(value.$base64), "base64"));
  if ("$date" in value) return new Date(Number(value.$date));
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, decodeValue(each)]));
}

export function encodeError(error: unknown): BridgeError {
  if (!(error instanceof Error)) return { name: "Error", message: String(error) };
  const { name, message } = error;
  return { name, message, ...("type" in error && { type: error.type }), ...("code" in error && { code: error.code }) };
}
