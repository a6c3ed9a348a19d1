/**
 * The body of a POST to a conversation: its schema, and the delivery it stands for.
 *
 * The body *is* the message, with three optional siblings that say under which condition and as what it is sent.
 *
 * Source: contract RUNTIME 1.3.
 */
import { type Static, type TProperties, Type } from "@sinclair/typebox";
import {
  findShapeFault,
  readSignal,
  readUserMessage,
  SIGNAL_FIELDS,
  USER_FIELDS,
} from "../../durable-objects/protocol/delivered-message.ts";
import { BerthError } from "../../durable-objects/protocol/errors.ts";
import { MAX_IDEMPOTENCY_KEY_CHARS, MAX_INITIAL_DATA_DEPTH } from "../../durable-objects/protocol/limits.ts";
import type { DeliveredMessage } from "../../durable-objects/protocol/submission.ts";

const RESERVED_KEY_PREFIX = "schedule:";

const SIBLINGS = {
  initialData: Type.Optional(Type.Unknown({ description: "Used only when this send creates the conversation." })),
  uid: Type.Optional(
    Type.Union([Type.String(), Type.Null()], {
      description: "A string continues only this incarnation; null only creates.",
    }),
  ),
  idempotencyKey: Type.Optional(
    Type.String({ minLength: 1, maxLength: MAX_IDEMPOTENCY_KEY_CHARS, description: "Makes a repeat harmless." }),
  ),
} satisfies TProperties;

export const UserBody = Type.Object(
  { ...USER_FIELDS, ...SIBLINGS },
  { additionalProperties: false, description: "A message of a person." },
);

export const SignalBody = Type.Object(
  { ...SIGNAL_FIELDS, ...SIBLINGS },
  { additionalProperties: false, description: "A message of a machine." },
);

export const DeliveryBody = Type.Union([UserBody, SignalBody]);

/** A message, and how it is sent. */
export interface Send {
  message: DeliveredMessage;
  initialData?: unknown;
  uid?: string | null;
  idempotencyKey?: string;
}

function invalid(message: string): BerthError {
  return new BerthError("invalid_request", message);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The key of the body and that of the header mean the same; a key that callers may not use is refused. */
function parseKey(inBody: string | undefined, inHeader: string | null): string | undefined {
  if (inBody !== undefined && inHeader !== null && inBody !== inHeader) {
    throw invalid(`"idempotencyKey" and the header Idempotency-Key differ.`);
  }
  const key = inBody ?? inHeader ?? undefined;
  if (key === undefined) return undefined;
  if (key === "" || key.length > MAX_IDEMPOTENCY_KEY_CHARS) {
    throw invalid(`The header Idempotency-Key must have 1 to ${MAX_IDEMPOTENCY_KEY_CHARS} characters.`);
  }
  if (key.startsWith(RESERVED_KEY_PREFIX)) {
    throw invalid(`Idempotency keys that begin with "${RESERVED_KEY_PREFIX}" are reserved for the runtime.`);
  }
  return key;
}

/** What is stored must be written out again, which deep nesting makes impossible. */
function isDeeperThan(value: unknown, levels: number): boolean {
  let layer: unknown[] = [value];
  for (let depth = 0; layer.length > 0; depth++) {
    if (depth > levels) return true;
    layer = layer.flatMap((inner) => (typeof inner === "object" && inner !== null ? Object.values(inner) : []));
  }
  return false;
}

/** Throws `invalid_request`, which says what is wrong and where. */
export function parseSend(body: unknown, headers: Headers): Send {
  if (!isRecord(body)) throw invalid("The body must be a JSON object: the message itself.");
  if (body.kind !== "user" && body.kind !== "signal") throw invalid(`"kind" must be "user" or "signal".`);
  const schema = body.kind === "user" ? UserBody : SignalBody;
  const fault = findShapeFault(schema, body);
  if (fault !== undefined) throw invalid(fault);
  const parsed = body as Static<typeof UserBody> | Static<typeof SignalBody>;
  const send: Send = { message: parsed.kind === "user" ? readUserMessage(parsed) : readSignal(parsed) };
  const key = parseKey(parsed.idempotencyKey, headers.get("idempotency-key"));
  if (key !== undefined) send.idempotencyKey = key;
  if (parsed.uid !== undefined) send.uid = parsed.uid;
  if (parsed.initialData !== undefined) send.initialData = parsed.initialData;
  if (isDeeperThan(send.initialData, MAX_INITIAL_DATA_DEPTH)) {
    throw invalid(`"initialData" is not valid: nested deeper than ${MAX_INITIAL_DATA_DEPTH} levels.`);
  }
  if (typeof send.uid === "string" && send.initialData !== undefined) {
    throw invalid(
      `"initialData" does not go with a "uid" to continue: it is used only when a conversation is created.`,
    );
  }
  return send;
}
