/**
 * `GET /agents/:agent/:id/submissions/:submissionId` and `GET /agents/:agent/:id/queue`: one submission, and what runs
 * and waits. Source: contract RUNTIME 1.12.
 */
import { Type } from "@sinclair/typebox";
import { json } from "../headers.ts";
import type { Route, RouteContext } from "../route.ts";
import { readTarget, unwrap } from "../target.ts";

const Time = Type.Integer({ description: "Milliseconds since the epoch." });

const Usage = Type.Object({
  input: Type.Number(),
  output: Type.Number(),
  cacheRead: Type.Number(),
  cacheWrite: Type.Number(),
  totalTokens: Type.Number(),
  cost: Type.Number({ description: "US dollars." }),
});

const SubmissionBody = Type.Object({
  submissionId: Type.String(),
  state: Type.Union(["queued", "running", "joined", "settled"].map((state) => Type.Literal(state))),
  outcome: Type.Optional(Type.Union(["completed", "failed", "aborted"].map((outcome) => Type.Literal(outcome)))),
  attempts: Type.Integer(),
  acceptedAt: Time,
  startedAt: Type.Optional(Time),
  deadlineAt: Type.Optional(Time),
  settledAt: Type.Optional(Time),
  abortRequestedAt: Type.Optional(Time),
  joinedInto: Type.Optional(Type.String()),
  usage: Type.Optional(Usage),
  error: Type.Optional(Type.Unknown()),
});

const QueueBody = Type.Object({
  running: Type.Union([SubmissionBody, Type.Null()]),
  joined: Type.Array(SubmissionBody),
  queued: Type.Array(SubmissionBody),
  usage: Type.Object(Usage.properties, { description: "Of everything that has settled in the conversation." }),
});

async function readSubmission(context: RouteContext): Promise<Response> {
  const { conversation } = readTarget(context);
  return json(await unwrap(conversation.readSubmission(context.params.submissionId ?? "")));
}

async function readQueue(context: RouteContext): Promise<Response> {
  const { conversation } = readTarget(context);
  return json(await unwrap(conversation.readQueue()));
}

export const submissionRoutes: readonly Route[] = [
  {
    method: "GET",
    path: "/agents/:agent/:id/submissions/:submissionId",
    summary: "One submission: where it stands and what became of it.",
    access: "read",
    request: {},
    responses: {
      200: { description: "The submission.", contentType: "application/json", schema: SubmissionBody },
    },
    handle: readSubmission,
  },
  {
    method: "GET",
    path: "/agents/:agent/:id/queue",
    summary: "What runs, what has joined it and what waits, in order; and what the conversation has used so far.",
    access: "read",
    request: {},
    responses: { 200: { description: "The queue.", contentType: "application/json", schema: QueueBody } },
    handle: readQueue,
  },
];
