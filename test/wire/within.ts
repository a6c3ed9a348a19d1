/**
 * A deadline that holds. `fetch` with `AbortSignal.timeout` was seen to settle never, with no socket left, where its
 * server was killed under it: a timer of our own settles in any case.
 */
export function within<T>(ms: number, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController();
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      const error = new Error(`Nothing came within ${ms} ms.`);
      controller.abort(error);
      reject(error);
    }, ms);
    work(controller.signal)
      .then(resolve, reject)
      .finally(() => clearTimeout(timer));
  });
}
