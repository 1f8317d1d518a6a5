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
