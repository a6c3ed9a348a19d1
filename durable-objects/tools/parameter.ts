/**
 * A tool parameter whose JSON form has the contract's key order: `type`, constraints, `description`.
 *
 * Source: contract TOOLS 1 (the `definition-*` vectors compare the serialised schema).
 */
import type { TSchema } from "@sinclair/typebox";

export function parameter<S extends TSchema>(schema: S, description: string): S {
  const { type, ...rest } = schema;
  // Spreading a generic loses it; only the order of keys has changed.
  return { type, ...rest, description } as unknown as S;
}
