/**
 * `GET /health`: alive, which version, and what is not set. Open to anybody, so it names settings and shows none.
 *
 * Source: contract RUNTIME 1.12, 9.
 */
import { Type } from "@sinclair/typebox";
import { missingSecret } from "../../../durable-objects/models/resolve-model.ts";
import { BerthError } from "../../../durable-objects/protocol/errors.ts";
import type { Settings } from "../../../durable-objects/protocol/settings.ts";
import { isOpenForDevelopment } from "../auth.ts";
import { json } from "../headers.ts";
import type { Route } from "../route.ts";

const HealthBody = Type.Object({
  status: Type.Union([Type.Literal("ok"), Type.Literal("misconfigured")]),
  version: Type.String(),
  missing: Type.Array(Type.String({ description: "A secret, variable or binding that is not set." })),
  fault: Type.Optional(Type.String({ description: "Which setting cannot be read, and why." })),
});

function listMissing(settings: Settings, url: URL): string[] {
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
    async handle({ settings, url, version }) {
      try {
        return json({ status: "ok", version, missing: listMissing(settings(), url) });
      } catch (error) {
        if (!(error instanceof BerthError)) throw error;
        return json({ status: "misconfigured", version, missing: [], fault: error.message });
      }
    },
  },
];
