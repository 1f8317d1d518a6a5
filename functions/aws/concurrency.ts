/**
 * Runs `work` for all items, at most `limit` at a time, and returns the results in the items' order. Rejects
 * when work throws.
 */
export async function mapConcurrently<T, R>(
  items: readonly T[],
  limit: number,
  work: (item: T) => Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  const queue = items.entries();
  const runNext = async () => {
    for (const [index, item] of queue) results[index] = await work(item);
  };
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, runNext));
  return results;
}

/** As `mapConcurrently`, with the results of `Promise.allSettled`. */
export const mapSettled = <T, R>(
  items: readonly T[],
  limit: number,
  work: (item: T) => Promise<R>,
): Promise<PromiseSettledResult<R>[]> =>
  mapConcurrently(items, limit, async (item) => {
    const [result] = await Promise.allSettled([work(item)]);
    return result;
  });

/** Returns the errors of failed work, each with its item. */
export const collectFailures = <T>(
  items: readonly T[],
  results: readonly PromiseSettledResult<unknown>[],
): { item: T; error: unknown }[] =>
  items.flatMap((item, index) => {
    const result = results[index];
    return result?.status === 'rejected' ? [{ item, error: result.reason as unknown }] : [];
  });

export interface Call<T, R> {
  item: T;
  resolve(result: R): void;
  reject(error: unknown): void;
}

/**
 * Collects the calls of one tick, so that `run` can process them in one request.
 * @param run resolves or rejects each call; when it throws, the others are rejected
 */
export function collectCalls<T, R>(
  run: (calls: readonly Call<T, R>[]) => Promise<void>,
): (item: T) => Promise<R> {
  let calls: Call<T, R>[] = [];
  return (item) =>
    new Promise((resolve, reject) => {
      calls.push({ item, resolve, reject });
      if (calls.length > 1) return;
      queueMicrotask(() => {
        const collected = calls;
        calls = [];
        run(collected).catch((error: unknown) => {
          for (const call of collected) call.reject(error);
        });
      });
    });
}
