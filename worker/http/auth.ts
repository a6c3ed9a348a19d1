/**
 * Who may call: nothing is served without a decision.
 *
 * With no token configured everything but open routes is refused. Development is open by an explicit flag, and only for
 * requests that name a loopback host: a deployed Worker is never called that, so the flag alone opens nothing there.
 * Tokens are compared as digests, all of them, so that neither length nor place of a difference shows.
 *
 * Source: contract RUNTIME 1.13.
 */
import { BerthError } from "../../durable-objects/protocol/errors.ts";
import type { AuthSettings } from "../../durable-objects/protocol/settings.ts";
import type { Caller } from "./route.ts";

const LOOPBACK_HOSTS: readonly string[] = ["localhost", "127.0.0.1", "[::1]"];
const BEARER = /^bearer +(\S+) *$/i;
const STATE_CHANGING: readonly string[] = ["POST", "PUT", "PATCH", "DELETE"];

function isLoopback(url: URL): boolean {
  return LOOPBACK_HOSTS.includes(url.hostname) || url.hostname.endsWith(".localhost");
}

/** Development is open for this request. */
export function isOpenForDevelopment(auth: AuthSettings, url: URL): boolean {
  return auth.openForDevelopment && isLoopback(url);
}

async function digest(text: string): Promise<Uint8Array> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text)));
}

/** Takes the same time wherever the two differ. */
function equalDigests(a: Uint8Array, b: Uint8Array): boolean {
  let difference = a.length ^ b.length;
  for (let at = 0; at < a.length; at++) difference |= (a[at] ?? 0) ^ (b[at] ?? 0);
  return difference === 0;
}

async function isKnownToken(token: string, tokens: readonly string[]): Promise<boolean> {
  const given = await digest(token);
  let known = false;
  for (const each of tokens) known = equalDigests(given, await digest(each)) || known;
  return known;
}

/** Throws `runtime_unavailable` without any configuration, `unauthorized` without a right token. */
export async function authenticate(request: Request, url: URL, auth: AuthSettings): Promise<Caller> {
  const header = request.headers.get("authorization");
  if (auth.tokens.length === 0) {
    if (isOpenForDevelopment(auth, url)) return {};
    throw new BerthError("runtime_unavailable", "This deployment has no access tokens, so it serves nobody.", {
      details: "Set the secret BERTH_TOKENS (wrangler secret put BERTH_TOKENS) to one or more tokens.",
    });
  }
  if (header === null && isOpenForDevelopment(auth, url)) return {};
  const token = BEARER.exec(header ?? "")?.[1];
  if (token === undefined || !(await isKnownToken(token, auth.tokens))) {
    throw new BerthError("unauthorized", "A valid bearer token is required.", {
      details: "Send the header Authorization: Bearer <token>.",
    });
  }
  return {};
}

/** A page of another origin must not change state with what its visitor may reach, in development too. */
export function refuseForeignOrigin(request: Request, url: URL): void {
  if (!STATE_CHANGING.includes(request.method)) return;
  const origin = request.headers.get("origin");
  if (origin !== null && origin !== url.origin) {
    throw new BerthError("forbidden", "Requests from pages of another origin are refused.");
  }
}
