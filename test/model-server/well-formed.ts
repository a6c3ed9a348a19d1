/** Every string in a value is well formed: no half of a surrogate pair stands alone. */
export function findIllFormed(value: unknown, path: string): string[] {
  if (typeof value === "string") return value.isWellFormed() ? [] : [`${path} holds half of a surrogate pair`];
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) => findIllFormed(inner, `${path}.${name}`));
}
