/** `GET /agents/:agent/:id/prompt`: the frozen system prompt, its epoch and hash. Source: contract RUNTIME 1.12, 5. */
import { Type } from "@sinclair/typebox";
import { json } from "../headers.ts";
import { readCount } from "../query.ts";
import type { Route, RouteContext } from "../route.ts";
import { readTarget, unwrap } from "../target.ts";

const PromptBody = Type.Object({
  epoch: Type.Integer({ description: "1 for the first prompt; each compaction adds one." }),
  composedAt: Type.Integer({ description: "Milliseconds since the epoch of time." }),
  sha256: Type.String({ description: "Of the text in UTF-8, in hex." }),
  text: Type.String(),
});

const Body = Type.Object({
  prompt: Type.Union([PromptBody, Type.Null()], { description: "null: nothing was composed yet, or no such epoch." }),
});

async function readPrompt(context: RouteContext): Promise<Response> {
  const epoch = readCount(context.url.searchParams, "epoch", Number.MAX_SAFE_INTEGER);
  const { conversation } = readTarget(context);
  return json({ prompt: await unwrap(conversation.readPrompt(epoch)) });
}

export const promptRoutes: readonly Route[] = [
  {
    method: "GET",
    path: "/agents/:agent/:id/prompt",
    summary: "The system prompt as it was frozen.",
    access: "admin",
    request: { query: { epoch: "Which one; the newest when absent." } },
    responses: { 200: { description: "The prompt.", contentType: "application/json", schema: Body } },
    handle: readPrompt,
  },
];
