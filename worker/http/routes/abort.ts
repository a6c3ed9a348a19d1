/** `POST /agents/:agent/:id/abort`: stops everything that is not settled, or one submission. Source: contract RUNTIME 1.10. */
import { Type } from "@sinclair/typebox";
import { json } from "../headers.ts";
import { readOnce } from "../query.ts";
import type { Route, RouteContext } from "../route.ts";
import { readTarget, unwrap } from "../target.ts";

async function abort(context: RouteContext): Promise<Response> {
  const { conversation } = readTarget(context);
  const submission = readOnce(context.url.searchParams, "submission");
  const { aborted } = await unwrap(conversation.abort(submission));
  return json({ aborted });
}

export const abortRoutes: readonly Route[] = [
  {
    method: "POST",
    path: "/agents/:agent/:id/abort",
    summary: "Abort all unsettled submissions of a conversation, or one.",
    access: "write",
    request: { query: { submission: "Only this one; the queue stays." } },
    responses: {
      200: {
        description: "aborted is false when nothing was to be aborted.",
        contentType: "application/json",
        schema: Type.Object({ aborted: Type.Boolean() }),
      },
    },
    handle: abort,
  },
];
