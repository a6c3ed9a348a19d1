/** Byte order of UTF-8, which is SQLite's and `LC_ALL=C sort`'s; UTF-16 order differs above the BMP. */
const encoder = new TextEncoder();

export function compareNames(a: string, b: string): number {
  if (a === b) return 0;
  const left = encoder.encode(a);
  const right = encoder.encode(b);
  const shared = Math.min(left.length, right.length);
  for (let index = 0; index < shared; index += 1) {
    const difference = (left[index] ?? 0) - (right[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return left.length - right.length;
}
