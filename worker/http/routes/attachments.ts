/** `GET /agents/:agent/:id/attachments/:attachmentId`: bytes that never change. Source: contract RUNTIME 1.9. */
import { secured } from "../headers.ts";
import type { Route, RouteContext } from "../route.ts";
import { readTarget, unwrap } from "../target.ts";

async function readAttachment(context: RouteContext): Promise<Response> {
  const { conversation } = readTarget(context);
  const { body, mimeType, size } = await unwrap(conversation.readAttachment(context.params.attachmentId ?? ""));
  const headers = secured({
    "content-type": mimeType,
    "content-length": String(size),
    "content-disposition": "inline",
    "cache-control": "private, max-age=31536000, immutable",
    "content-security-policy": "sandbox",
  });
  return new Response(body, { headers });
}

export const attachmentRoutes: readonly Route[] = [
  {
    method: "GET",
    path: "/agents/:agent/:id/attachments/:attachmentId",
    summary: "The bytes of an attachment.",
    access: "read",
    request: {},
    responses: { 200: { description: "The bytes, of the attachment's own type.", contentType: "image/*" } },
    handle: readAttachment,
  },
];
