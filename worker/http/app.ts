/**
 * The door: settings, who calls, which route, the answer. Stateless.
 *
 * Everything a conversation does is asked of its object through `ConversationRpc`; this side adds status and headers.
 * The order holds for every route: an address nobody may see is not told apart from one that is not there.
 *
 * Source: contract RUNTIME 1.
 */
import { type Context, Hono } from "hono";
import { BerthError } from "../../durable-objects/protocol/errors.ts";
import { authenticate, isOpenForDevelopment, refuseForeignOrigin } from "./auth.ts";
import { renderError } from "./errors.ts";
import { matchRoute, rawPathOf } from "./match-route.ts";
import type { Caller, DoorConfig, Route } from "./route.ts";
import { ROUTES } from "./routes/index.ts";
import { routeNotFound } from "./target.ts";

function isOpen(routes: readonly Route[], path: string): boolean {
  return routes.some((route) => route.access === "open" && route.path === path);
}

async function answer(config: DoorConfig, request: Request): Promise<Response> {
  const url = new URL(request.url);
  const path = rawPathOf(url);
  // An open route answers even where the settings cannot be read: it is how one finds out.
  const caller: Caller = isOpen(ROUTES, path) ? {} : await authenticate(request, url, config.settings().auth);
  refuseForeignOrigin(request, url);
  const match = matchRoute(ROUTES, request.method, path);
  if (match === undefined) throw routeNotFound();
  if (!("route" in match)) {
    throw new BerthError("method_not_allowed", `${request.method} is not possible here.`, {
      meta: { allow: match.allow },
    });
  }
  const { agents, conversationOf, version, settings } = config;
  return match.route.handle({ request, url, params: match.params, settings, agents, conversationOf, version, caller });
}

/** In development an answer may say more; a deployment that cannot read its settings is not in development. */
function isDevelopment(config: DoorConfig, request: Request): boolean {
  try {
    return isOpenForDevelopment(config.settings().auth, new URL(request.url));
  } catch {
    return false;
  }
}

/** The Worker's `fetch`: `createApp(config).fetch(request)`. */
export function createApp(config: DoorConfig): Hono {
  const app = new Hono();
  app.all("*", (context: Context) => {
    const { raw } = context.req;
    // Not `onError`: what an object throws across RPC need not be an Error.
    return answer(config, raw).catch((error) =>
      renderError(error, { method: raw.method, development: isDevelopment(config, raw) }),
    );
  });
  return app;
}
