/**
 * The shape of a delivered message, checked wherever one comes from outside: a POST, a dispatch, a signal that an agent's
 * own code appends.
 *
 * Source: contract RUNTIME 1.3, 3.1, 4.
 */
import { type Static, type TObject, type TProperties, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { BerthError } from "./errors.ts";
import { MAX_ATTACHMENT_CHARS } from "./limits.ts";
import { type DeliveredMessage, RESERVED_SIGNAL_TYPES, type SignalDelivery, type UserDelivery } from "./submission.ts";

const NAME = "^[A-Za-z_][A-Za-z0-9_.-]*$";
const IMAGE_TYPE = "^image/[A-Za-z0-9.+-]+$";
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

const Attachment = Type.Object(
  {
    type: Type.Literal("image"),
    data: Type.String({ maxLength: MAX_ATTACHMENT_CHARS, description: "Base64." }),
    mimeType: Type.String({ pattern: IMAGE_TYPE }),
    filename: Type.Optional(Type.String()),
  },
  { additionalProperties: false },
);

export const USER_FIELDS = {
  kind: Type.Literal("user"),
  body: Type.String(),
  attachments: Type.Optional(Type.Array(Attachment)),
} satisfies TProperties;

export const SIGNAL_FIELDS = {
  kind: Type.Literal("signal"),
  type: Type.String({ minLength: 1 }),
  body: Type.String(),
  attributes: Type.Optional(
    Type.Record(Type.String({ pattern: NAME }), Type.String(), { additionalProperties: false }),
  ),
  tagName: Type.Optional(Type.String({ pattern: NAME })),
} satisfies TProperties;

const UserMessage = Type.Object(USER_FIELDS, { additionalProperties: false });
const SignalMessage = Type.Object(SIGNAL_FIELDS, { additionalProperties: false });

function invalid(message: string): BerthError {
  return new BerthError("invalid_request", message);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The first thing that is wrong, in a sentence: unknown keys before anything else, so that they are named. */
export function findShapeFault(schema: TObject, value: Record<string, unknown>): string | undefined {
  const unknown = Object.keys(value).find((key) => !(key in schema.properties));
  if (unknown !== undefined) return `The body has an unknown key "${unknown}".`;
  const error = Value.Errors(schema, value).First();
  if (error === undefined) return undefined;
  const path = error.path.split("/").slice(1).join(".");
  return path === "" ? `The body is not valid: ${error.message}.` : `"${path}" is not valid: ${error.message}.`;
}

/** Of a value of the right shape; throws `invalid_request` for a blank or reserved type. */
export function readSignal(signal: Static<typeof SignalMessage>): SignalDelivery {
  if (signal.type.trim() === "") throw invalid(`"type" must not be blank.`);
  if (RESERVED_SIGNAL_TYPES.includes(signal.type)) {
    throw invalid(`The signal type "${signal.type}" is reserved for the runtime.`);
  }
  const delivery: SignalDelivery = { kind: "signal", type: signal.type, body: signal.body };
  if (signal.attributes !== undefined) delivery.attributes = signal.attributes;
  if (signal.tagName !== undefined) delivery.tagName = signal.tagName;
  return delivery;
}

/** Of a value of the right shape; throws `invalid_request` for bytes that are not base64. */
export function readUserMessage({ body, attachments = [] }: Static<typeof UserMessage>): UserDelivery {
  const delivery: UserDelivery = { kind: "user", body };
  attachments.forEach(({ data }, at) => {
    if (data === "" || !BASE64.test(data)) throw invalid(`"attachments.${at}.data" is not valid: not base64.`);
  });
  if (attachments.length > 0) delivery.attachments = attachments as NonNullable<UserDelivery["attachments"]>;
  return delivery;
}

/** Throws `invalid_request`, which says what is wrong and where. */
export function parseDeliveredMessage(value: unknown): DeliveredMessage {
  const kind = isRecord(value) ? value.kind : undefined;
  if (!isRecord(value) || (kind !== "user" && kind !== "signal")) throw invalid(`"kind" must be "user" or "signal".`);
  const fault = findShapeFault(kind === "user" ? UserMessage : SignalMessage, value);
  if (fault !== undefined) throw invalid(fault);
  return kind === "user"
    ? readUserMessage(value as Static<typeof UserMessage>)
    : readSignal(value as Static<typeof SignalMessage>);
}
