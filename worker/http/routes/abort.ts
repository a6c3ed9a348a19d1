/** `POST /agents/:agent/:id/abort`: stops everything that is not settled. Source: contract RUNTIME 1.10. */
import { Type } from "@sinclair/typebox";
import { BerthError } from "../../../durable-objects/protocol/errors.ts";
import { json } from "../headers.ts";
import type { Route, RouteContext } from "../route.ts";
import { readTarget, unwrap } from "../target.ts";

async function abort(context: RouteContext): Promise<Response> {
  const { conversation } = readTarget(context);
  if (context.url.searchParams.has("submission")) {
    throw new BerthError("invalid_request", "The parameter submission is not supported yet.");
  }
  const { aborted } = await unwrap(conversation.abort());
  return json({ aborted });
}

export const abortRoutes: readonly Route[] = [
  {
    method: "POST",
    path: "/agents/:agent/:id/abort",
    summary: "Abort all unsettled submissions of a conversation.",
    access: "write",
    request: {},
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
