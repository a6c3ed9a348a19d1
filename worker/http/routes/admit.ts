/** `POST /agents/:agent/:id`: hands a message in. Source: contract RUNTIME 1.3, 1.4. */
import { Type } from "@sinclair/typebox";
import { BerthError } from "../../../durable-objects/protocol/errors.ts";
import type { Admission } from "../../../durable-objects/protocol/rpc.ts";
import { DeliveryBody, parseDelivery } from "../delivery.ts";
import { json } from "../headers.ts";
import { readJsonBody } from "../read-body.ts";
import type { Route, RouteContext } from "../route.ts";
import { readTarget, unwrap } from "../target.ts";
import { readTraceContext } from "../trace-context.ts";

const ReceiptBody = Type.Object({
  streamUrl: Type.String(),
  offset: Type.String(),
  submissionId: Type.String(),
  uid: Type.String(),
});

function refuseUnsupported(context: RouteContext): void {
  const refuse = (what: string) => new BerthError("invalid_request", `${what} is not supported yet.`);
  if (context.url.searchParams.has("wait")) throw refuse("The parameter wait");
  if (context.request.headers.has("idempotency-key")) throw refuse("The header Idempotency-Key");
}

async function admit(context: RouteContext): Promise<Response> {
  const { agent, id, conversation } = readTarget(context);
  refuseUnsupported(context);
  const admission: Admission = { agent, id, message: parseDelivery(await readJsonBody(context.request)) };
  const trace = readTraceContext(context.request.headers);
  if (trace !== undefined) admission.trace = trace;
  if (context.caller.subject !== undefined) admission.subject = context.caller.subject;
  const { offset, submissionId, uid } = await unwrap(conversation.admit(admission));
  const streamUrl = context.url.origin + context.url.pathname;
  const receipt = { streamUrl, offset, submissionId, uid };
  return json(receipt, 202, { location: streamUrl, "stream-next-offset": offset });
}

export const admitRoutes: readonly Route[] = [
  {
    method: "POST",
    path: "/agents/:agent/:id",
    summary: "Hand a message to a conversation; the first one creates it.",
    access: "write",
    request: {
      headers: { traceparent: "W3C trace context, kept with the submission.", tracestate: "Belongs to traceparent." },
      body: DeliveryBody,
    },
    responses: {
      202: { description: "The message is durable.", contentType: "application/json", schema: ReceiptBody },
    },
    handle: admit,
  },
];
