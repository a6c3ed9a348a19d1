/**
 * Finds the route of a request by its raw path.
 *
 * A conversation's id may hold any character, `/` included when it is encoded, and is compared byte for byte: so the path
 * is split before anything is decoded, and each part is decoded once.
 *
 * Source: contract RUNTIME 1.1, 1.2.
 */
import { BerthError } from "../../durable-objects/protocol/errors.ts";
import type { Method, Route } from "./route.ts";

export interface RouteMatch {
  route: Route;
  params: Readonly<Record<string, string>>;
}

/** The path as the caller wrote it. */
export function rawPathOf(url: URL): string {
  return url.pathname;
}

function fits(pattern: readonly string[], segments: readonly string[]): boolean {
  return (
    pattern.length === segments.length && pattern.every((part, at) => part.startsWith(":") || part === segments[at])
  );
}

function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    throw new BerthError("invalid_request", "The address holds a percent sign that does not start a UTF-8 character.");
  }
}

function readParams(pattern: readonly string[], segments: readonly string[]): Record<string, string> {
  const params: Record<string, string> = {};
  pattern.forEach((part, at) => {
    if (part.startsWith(":")) params[part.slice(1)] = decodeSegment(segments[at] ?? "");
  });
  return params;
}

/** A refused method: the methods there are. They travel with the error to the `Allow` header. */
export interface RefusedMethod {
  allow: Method[];
}

/** The route, the methods of an address that has no such method, or `undefined` for an address that is none. */
export function matchRoute(
  routes: readonly Route[],
  method: string,
  rawPath: string,
): RouteMatch | RefusedMethod | undefined {
  const segments = rawPath.split("/");
  const candidates = routes.filter((route) => fits(route.path.split("/"), segments));
  const route = candidates.find((candidate) => candidate.method === method);
  if (route !== undefined) return { route, params: readParams(route.path.split("/"), segments) };
  return candidates.length === 0 ? undefined : { allow: candidates.map((candidate) => candidate.method) };
}
