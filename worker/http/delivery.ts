/**
 * The body of a POST to a conversation: its schema, and the delivery it stands for.
 *
 * The body *is* the message. What the contract knows and this milestone does not do yet is refused by name, so that
 * nobody believes it was kept.
 *
 * Source: contract RUNTIME 1.3.
 */
import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { BerthError } from "../../durable-objects/protocol/errors.ts";
import { type DeliveredMessage, RESERVED_SIGNAL_TYPES } from "../../durable-objects/protocol/submission.ts";

const NAME = "^[A-Za-z_][A-Za-z0-9_.-]*$";

export const UserBody = Type.Object(
  { kind: Type.Literal("user"), body: Type.String() },
  { additionalProperties: false, description: "A message of a person." },
);

export const SignalBody = Type.Object(
  {
    kind: Type.Literal("signal"),
    type: Type.String({ minLength: 1 }),
    body: Type.String(),
    attributes: Type.Optional(
      Type.Record(Type.String({ pattern: NAME }), Type.String(), { additionalProperties: false }),
    ),
    tagName: Type.Optional(Type.String({ pattern: NAME })),
  },
  { additionalProperties: false, description: "A message of a machine." },
);

export const DeliveryBody = Type.Union([UserBody, SignalBody]);

const NOT_SUPPORTED: readonly string[] = ["attachments", "initialData", "uid", "idempotencyKey"];

function invalid(message: string): BerthError {
  return new BerthError("invalid_request", message);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Before the shape itself: keys, so that the answer names them. */
function checkKeys(body: Record<string, unknown>, known: readonly string[]): void {
  for (const key of Object.keys(body)) {
    if (NOT_SUPPORTED.includes(key)) throw invalid(`"${key}" is not supported yet.`);
    if (!known.includes(key)) throw invalid(`The body has an unknown key "${key}".`);
  }
}

function checkShape(schema: typeof UserBody | typeof SignalBody, body: unknown): void {
  const error = Value.Errors(schema, body).First();
  if (error === undefined) return;
  const path = error.path.split("/").slice(1).join(".");
  throw invalid(path === "" ? `The body is not valid: ${error.message}.` : `"${path}" is not valid: ${error.message}.`);
}

function parseSignal(signal: Static<typeof SignalBody>): DeliveredMessage {
  if (signal.type.trim() === "") throw invalid(`"type" must not be blank.`);
  if (RESERVED_SIGNAL_TYPES.includes(signal.type)) {
    throw invalid(`The signal type "${signal.type}" is reserved for the runtime.`);
  }
  const delivery: DeliveredMessage = { kind: "signal", type: signal.type, body: signal.body };
  if (signal.attributes !== undefined) delivery.attributes = signal.attributes;
  if (signal.tagName !== undefined) delivery.tagName = signal.tagName;
  return delivery;
}

/** Throws `invalid_request`, which says what is wrong and where. */
export function parseDelivery(body: unknown): DeliveredMessage {
  if (!isRecord(body)) throw invalid("The body must be a JSON object: the message itself.");
  if (body.kind !== "user" && body.kind !== "signal") throw invalid(`"kind" must be "user" or "signal".`);
  const schema = body.kind === "user" ? UserBody : SignalBody;
  checkKeys(body, Object.keys(schema.properties));
  checkShape(schema, body);
  if (body.kind === "user") return { kind: "user", body: (body as Static<typeof UserBody>).body };
  return parseSignal(body as Static<typeof SignalBody>);
}
