/** `GET /agents`: the roster. Source: contract RUNTIME 1.12. */
import { Type } from "@sinclair/typebox";
import { json } from "../headers.ts";
import type { Route } from "../route.ts";

const RosterBody = Type.Object({
  agents: Type.Array(
    Type.Object({
      name: Type.String(),
      description: Type.Optional(Type.String()),
      http: Type.Boolean({ description: "false: reached by dispatch only." }),
    }),
  ),
});

export const agentRoutes: readonly Route[] = [
  {
    method: "GET",
    path: "/agents",
    summary: "The agents of this deployment.",
    access: "read",
    request: {},
    responses: { 200: { description: "The roster.", contentType: "application/json", schema: RosterBody } },
    async handle({ agents }) {
      return json({ agents: agents.list().map(({ name, description, http }) => ({ name, description, http })) });
    },
  },
];
