/** Headers that every answer carries. Source: contract RUNTIME 1.6. */

/** The given headers, and those that keep a browser from guessing types. */
export function secured(init: Record<string, string> = {}): Headers {
  const headers = new Headers(init);
  headers.set("x-content-type-options", "nosniff");
  headers.set("cross-origin-resource-policy", "cross-origin");
  return headers;
}

/** A JSON answer that nobody may keep. */
export function json(value: unknown, status = 200, extra: Record<string, string> = {}): Response {
  const headers = secured({ "content-type": "application/json", "cache-control": "no-store", ...extra });
  return new Response(JSON.stringify(value), { status, headers });
}
