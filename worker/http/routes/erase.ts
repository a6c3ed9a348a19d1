/** `DELETE /agents/:agent/:id`: ends and erases a conversation. Source: contract RUNTIME 1.12. */
import { secured } from "../headers.ts";
import type { Route, RouteContext } from "../route.ts";
import { readTarget, unwrap } from "../target.ts";

async function erase(context: RouteContext): Promise<Response> {
  const { conversation } = readTarget(context);
  await unwrap(conversation.erase());
  return new Response(null, { status: 204, headers: secured({ "cache-control": "no-store" }) });
}

export const eraseRoutes: readonly Route[] = [
  {
    method: "DELETE",
    path: "/agents/:agent/:id",
    summary:
      "Abort, close the streams and erase everything, idempotency keys too. The next message is a new incarnation.",
    access: "write",
    request: {},
    responses: { 204: { description: "Nothing of the conversation is left." } },
    handle: erase,
  },
];
