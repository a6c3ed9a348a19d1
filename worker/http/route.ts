/**
 * What a route is: a value that says its address, its shapes and its answer, so that the router, the checks and the
 * OpenAPI document are made from one list.
 *
 * Source: contract RUNTIME 1.2, 1.12.
 */
import type { TSchema } from "@sinclair/typebox";
import type { AgentRegistry } from "../../durable-objects/agent/registry.ts";
import type { ConversationRpc } from "../../durable-objects/protocol/rpc.ts";
import type { Settings } from "../../durable-objects/protocol/settings.ts";

export type Method = "GET" | "HEAD" | "POST" | "PUT" | "DELETE";

/** `open`: anybody, without a decision. The others are scopes of RUNTIME 1.13. */
export type Access = "open" | "read" | "write" | "admin";

/** What the door is built from. Everything outside is injected, so that it runs in a test as it is. */
export interface DoorConfig {
  agents: AgentRegistry;
  /** Throws a framework error when the deployment is set up wrongly. Called for every request: cache in it. */
  settings(): Settings;
  /** The conversation's object, named `<agent>/<id>`. */
  conversationOf(agent: string, id: string): ConversationRpc;
  version: string;
}

/** Who calls, as far as the token says. */
export interface Caller {
  subject?: string;
}

export interface RouteContext {
  request: Request;
  url: URL;
  /** Decoded parts of the path. */
  params: Readonly<Record<string, string>>;
  /** Throws `runtime_unavailable` when the deployment is set up wrongly. */
  settings(): Settings;
  agents: AgentRegistry;
  conversationOf: DoorConfig["conversationOf"];
  version: string;
  caller: Caller;
}

export interface RouteResponse {
  description: string;
  contentType?: string;
  schema?: TSchema;
}

export interface Route {
  method: Method;
  /** Segments of letters, or `:name` for one that is matched whatever it holds. */
  path: string;
  summary: string;
  access: Access;
  request: {
    /** Name to description of the query parameters the route reads. */
    query?: Readonly<Record<string, string>>;
    headers?: Readonly<Record<string, string>>;
    body?: TSchema;
  };
  responses: Readonly<Record<number, RouteResponse>>;
  handle(context: RouteContext): Promise<Response>;
}
