/**
 * `GET /health`: alive, which version, and what is not set. Open to anybody, so it names settings and shows none.
 *
 * Source: contract RUNTIME 1.12, 9.
 */
import { Type } from "@sinclair/typebox";
import { missingSecret } from "../../../durable-objects/models/resolve-model.ts";
import { isOpenForDevelopment } from "../auth.ts";
import { json } from "../headers.ts";
import type { Route, RouteContext } from "../route.ts";

const HealthBody = Type.Object({
  status: Type.Literal("ok"),
  version: Type.String(),
  missing: Type.Array(Type.String({ description: "A secret, variable or binding that is not set." })),
});

function listMissing({ settings, url }: RouteContext): string[] {
  const missing: string[] = [];
  if (settings.auth.tokens.length === 0 && !isOpenForDevelopment(settings.auth, url)) missing.push("BERTH_TOKENS");
  const secret = missingSecret(settings.model, settings);
  if (secret !== undefined) missing.push(secret);
  return missing;
}

export const healthRoutes: readonly Route[] = [
  {
    method: "GET",
    path: "/health",
    summary: "Liveness, version, and the settings that are missing.",
    access: "open",
    request: {},
    responses: { 200: { description: "The Worker answers.", contentType: "application/json", schema: HealthBody } },
    async handle(context) {
      return json({ status: "ok", version: context.version, missing: listMissing(context) });
    },
  },
];
