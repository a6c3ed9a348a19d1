/** Checks what a conversation is created with against its agent's schema. Source: contract RUNTIME 1.3, 4. */
import { TypeGuard } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import type { RegisteredAgent } from "./agent.ts";

/** What is wrong, in a sentence; nothing for an agent without a schema. */
export function findInitialDataFault(agent: RegisteredAgent | undefined, data: unknown): string | undefined {
  const schema = agent?.agent.initialData;
  if (schema === undefined) return undefined;
  // At the top TypeBox itself gives `Type.Optional` no meaning: there it says that a conversation may be made without.
  if (data === undefined && TypeGuard.IsOptional(schema)) return undefined;
  const error = Value.Errors(schema, data).First();
  if (error === undefined) return undefined;
  const path = error.path.split("/").slice(1).join(".");
  return `${path === "" ? "" : `${path}: `}${error.message}.`;
}
