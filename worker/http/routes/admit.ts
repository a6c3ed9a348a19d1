/** `POST /agents/:agent/:id`: hands a message in. Source: contract RUNTIME 1.3, 1.4. */
import { Type } from "@sinclair/typebox";
import { MAX_WAIT_SECONDS } from "../../../durable-objects/protocol/limits.ts";
import type { Admission } from "../../../durable-objects/protocol/rpc.ts";
import { DeliveryBody, parseSend } from "../delivery.ts";
import { json } from "../headers.ts";
import { readCount } from "../query.ts";
import { readJsonBody } from "../read-body.ts";
import type { Route, RouteContext } from "../route.ts";
import { readTarget, unwrap } from "../target.ts";
import { readTraceContext } from "../trace-context.ts";

const ReceiptBody = Type.Object({
  streamUrl: Type.String(),
  offset: Type.String(),
  submissionId: Type.String(),
  uid: Type.String(),
  deduplicated: Type.Optional(Type.Literal(true)),
});

const AnswerBody = Type.Composite([
  ReceiptBody,
  Type.Object({
    settlement: Type.Unknown({ description: "How the submission settled." }),
    message: Type.Optional(Type.Unknown({ description: "The message that answered it." })),
  }),
]);

/** Above this a message could exceed what RPC carries, since a string may take two bytes a unit there. */
const LARGE_MESSAGE_UNITS = 1024 * 1024;

function encodeLarge(admission: Admission): Admission | Uint8Array {
  if (admission.message.body.length <= LARGE_MESSAGE_UNITS) return admission;
  return new TextEncoder().encode(JSON.stringify(admission));
}

async function admit(context: RouteContext): Promise<Response> {
  const { agent, id, conversation } = readTarget(context);
  const waitSeconds = readCount(context.url.searchParams, "wait", MAX_WAIT_SECONDS);
  const { request } = context;
  const admission: Admission = { agent, id, ...parseSend(await readJsonBody(request), request.headers) };
  const trace = readTraceContext(request.headers);
  if (trace !== undefined) admission.trace = trace;
  if (context.caller.subject !== undefined) admission.subject = context.caller.subject;
  const given = await unwrap(conversation.admit(encodeLarge(admission)));
  const streamUrl = context.url.origin + context.url.pathname;
  const receipt = { streamUrl, ...given };
  const headers = { location: streamUrl, "stream-next-offset": given.offset };
  const settled =
    waitSeconds === undefined ? null : await unwrap(conversation.waitSettled(given.submissionId, waitSeconds * 1000));
  if (settled === null) return json(receipt, 202, headers);
  const answered = JSON.parse(await new Response(settled).text());
  return json({ ...receipt, ...answered }, 200, { "stream-next-offset": given.offset });
}

export const admitRoutes: readonly Route[] = [
  {
    method: "POST",
    path: "/agents/:agent/:id",
    summary: "Hand a message to a conversation; the first one creates it.",
    access: "write",
    request: {
      query: { wait: "Seconds to hold the answer until the submission settles." },
      headers: {
        "idempotency-key": "The same as idempotencyKey in the body.",
        traceparent: "W3C trace context, kept with the submission.",
        tracestate: "Belongs to traceparent.",
      },
      body: DeliveryBody,
    },
    responses: {
      200: { description: "With wait: it has settled.", contentType: "application/json", schema: AnswerBody },
      202: { description: "The message is durable.", contentType: "application/json", schema: ReceiptBody },
    },
    handle: admit,
  },
];
