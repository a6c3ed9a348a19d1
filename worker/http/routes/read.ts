/**
 * `GET` and `HEAD /agents/:agent/:id`: the snapshot, the updates, where the stream stands.
 *
 * Source: contract RUNTIME 1.6 to 1.8.
 */
import { Type } from "@sinclair/typebox";
import { DEFAULT_HISTORY_PAGE_MESSAGES, MAX_HISTORY_PAGE_MESSAGES } from "../../../durable-objects/protocol/limits.ts";
import { parseOffset } from "../../../durable-objects/protocol/offset.ts";
import type { HistoryPageQuery, LiveMode, ReadAnswer, UpdatesQuery } from "../../../durable-objects/protocol/rpc.ts";
import { secured } from "../headers.ts";
import { invalid, readCount, readOnce } from "../query.ts";
import type { Route, RouteContext } from "../route.ts";
import { readTarget, unwrap } from "../target.ts";

const CLIENT_CLOSED_REQUEST = 499;
const LIVE_MODES: ReadonlyMap<string, LiveMode> = new Map([
  ["long-poll", "long-poll"],
  ["sse", "sse"],
]);

/** Of the contract, not of this milestone: an answer without them would look like one with them. */
const NOT_SUPPORTED: readonly string[] = ["thread"];

function refuseParameters(query: URLSearchParams, names: readonly string[], view: string): void {
  for (const name of names) if (query.has(name)) throw invalid(`The parameter ${name} does not go with view=${view}.`);
}

function parseAfter(text: string, source: string): number {
  const after = parseOffset(text);
  if (after === undefined) throw invalid(`${source} is not an offset.`);
  return after;
}

function parseUpdates(query: URLSearchParams, headers: Headers): UpdatesQuery {
  refuseParameters(query, ["tail", "before", "limit"], "updates");
  const offset = readOnce(query, "offset");
  if (offset === undefined) throw invalid("The parameter offset is required with view=updates.");
  const after = parseAfter(offset, "The parameter offset");
  const mode = readOnce(query, "live");
  const live = mode === undefined ? "none" : LIVE_MODES.get(mode);
  if (live === undefined) throw invalid("The parameter live must be long-poll or sse.");
  const lastEventId = headers.get("last-event-id")?.trim();
  if (live !== "sse" || lastEventId === undefined || lastEventId === "") return { after, live };
  return { after: parseAfter(lastEventId, "The header Last-Event-ID"), live };
}

/** The page that is asked for; the whole history without `before` and `limit`. */
function parsePage(query: URLSearchParams): HistoryPageQuery | undefined {
  const before = readOnce(query, "before");
  const limit = readCount(query, "limit", MAX_HISTORY_PAGE_MESSAGES);
  if (before === undefined && limit === undefined) return undefined;
  return { limit: limit ?? DEFAULT_HISTORY_PAGE_MESSAGES, ...(before !== undefined && { before }) };
}

function streamHeaders(offset: string | undefined, upToDate: boolean | undefined, contentType: string): Headers {
  const headers = secured({ "content-type": contentType, "cache-control": "no-store" });
  if (offset !== undefined) headers.set("stream-next-offset", offset);
  if (upToDate === true) headers.set("stream-up-to-date", "true");
  return headers;
}

function renderRead(answer: ReadAnswer): Response {
  return new Response(answer.body, { headers: streamHeaders(answer.offset, answer.upToDate, answer.contentType) });
}

async function read(context: RouteContext): Promise<Response> {
  const { conversation } = readTarget(context);
  const query = context.url.searchParams;
  const early = NOT_SUPPORTED.find((name) => query.has(name));
  if (early !== undefined) throw invalid(`The parameter ${early} is not supported yet.`);
  const view = readOnce(query, "view") ?? "history";
  if (view === "history") {
    refuseParameters(query, ["offset", "tail", "live"], view);
    return renderRead(await unwrap(conversation.readHistory(parsePage(query))));
  }
  if (view !== "updates") throw invalid("The parameter view must be history or updates.");
  const updates = parseUpdates(query, context.request.headers);
  const answer = await unwrap(conversation.readUpdates(updates));
  if (updates.live === "long-poll" && context.request.signal.aborted) {
    return new Response(null, { status: CLIENT_CLOSED_REQUEST, headers: secured() });
  }
  return renderRead(answer);
}

async function readHead(context: RouteContext): Promise<Response> {
  const { conversation } = readTarget(context);
  const { offset } = await unwrap(conversation.readHead());
  return new Response(null, { headers: streamHeaders(offset, undefined, "application/json") });
}

export const readRoutes: readonly Route[] = [
  {
    method: "GET",
    path: "/agents/:agent/:id",
    summary: "Read a conversation: a snapshot, or what was recorded after an offset.",
    access: "read",
    request: {
      query: {
        view: "history (default) or updates.",
        before: "With history: a message id; the page of messages before it.",
        limit: "With history: messages on the page.",
        offset: "With updates: what came after it; -1 is before everything.",
        live: "With updates: long-poll or sse.",
      },
      headers: { "last-event-id": "With live=sse: goes before offset." },
    },
    responses: {
      200: {
        description: "A snapshot, a list of chunks, or a stream of events.",
        contentType: "application/json",
        schema: Type.Unknown(),
      },
    },
    handle: read,
  },
  {
    method: "HEAD",
    path: "/agents/:agent/:id",
    summary: "Where a conversation's stream stands, as headers.",
    access: "read",
    request: {},
    responses: { 200: { description: "No body; Stream-Next-Offset is the head." } },
    handle: readHead,
  },
];
