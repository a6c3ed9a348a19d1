/**
 * `GET /agents/:agent/:id/attachments/:attachmentId`: no message can carry one yet, so none is found.
 *
 * Source: contract RUNTIME 1.9.
 */
import { BerthError } from "../../../durable-objects/protocol/errors.ts";
import type { Route, RouteContext } from "../route.ts";
import { readTarget, unwrap } from "../target.ts";

async function readAttachment(context: RouteContext): Promise<Response> {
  const { conversation } = readTarget(context);
  await unwrap(conversation.readHead());
  throw new BerthError("attachment_not_found", "The conversation has no such attachment.");
}

export const attachmentRoutes: readonly Route[] = [
  {
    method: "GET",
    path: "/agents/:agent/:id/attachments/:attachmentId",
    summary: "The bytes of an attachment.",
    access: "read",
    request: {},
    responses: { 200: { description: "The bytes.", contentType: "application/octet-stream" } },
    handle: readAttachment,
  },
];
