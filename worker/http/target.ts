/**
 * The conversation an address names, and what its object answered.
 *
 * Source: contract RUNTIME 1.1, 1.2.
 */
import { BerthError } from "../../durable-objects/protocol/errors.ts";
import { MAX_ID_CHARS } from "../../durable-objects/protocol/limits.ts";
import type { Answer, ConversationRpc } from "../../durable-objects/protocol/rpc.ts";
import { errorOf } from "./errors.ts";
import type { RouteContext } from "./route.ts";

export interface Target {
  agent: string;
  id: string;
  conversation: ConversationRpc;
}

const CONTROL_CHARACTER = /[\u0000-\u001f\u007f-\u009f]/;

export function routeNotFound(): BerthError {
  return new BerthError("route_not_found", "There is nothing at this address.");
}

function checkId(id: string): void {
  if (id.trim() === "") throw new BerthError("invalid_request", "The conversation id must not be empty or blank.");
  if ([...id].length > MAX_ID_CHARS) {
    throw new BerthError("invalid_request", `The conversation id must have at most ${MAX_ID_CHARS} characters.`);
  }
  if (CONTROL_CHARACTER.test(id)) {
    throw new BerthError("invalid_request", "The conversation id must not hold control characters.");
  }
}

/** Throws `route_not_found` for an agent that is not served, `invalid_request` for an id that is none. */
export function readTarget(context: RouteContext): Target {
  const { agent = "", id = "" } = context.params;
  if (context.agents.get(agent)?.http !== true) throw routeNotFound();
  checkId(id);
  return { agent, id, conversation: context.conversationOf(agent, id) };
}

/** The value of an answer; its fault is thrown. */
export async function unwrap<T>(answer: Promise<Answer<T>>): Promise<T> {
  const settled = await answer;
  if (settled.ok) return settled.value;
  throw errorOf(settled.error);
}
