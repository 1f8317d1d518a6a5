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

/** What was not done, and why. Senders of messages never reject: they return what was not taken. */
export interface Failure<T> {
  item: T;
  error: unknown;
}

/** Returns the errors of failed work, each with its item. */
export const collectFailures = <T>(
  items: readonly T[],
  results: readonly PromiseSettledResult<unknown>[],
): Failure<T>[] =>
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

/**
 * Maximum bytes of one request to EventBridge or SQS: below the lowest documented limit of 256 KB, with room
 * for added fields.
 */
export const REQUEST_BYTES = 200 * 1024;

/**
 * Splits items, in order, into as few requests as possible. An item above the limit gets a request of its
 * own.
 * @param getSize bytes of an item as the service counts them
 */
export function splitIntoChunks<T>(
  items: readonly T[],
  getSize: (item: T) => number,
  { entries, bytes }: { entries: number; bytes: number },
): T[][] {
  const chunks: T[][] = [];
  let size = 0;
  for (const item of items) {
    const itemSize = getSize(item);
    const last = chunks.at(-1);
    if (last !== undefined && last.length < entries && size + itemSize <= bytes) {
      last.push(item);
      size += itemSize;
    } else {
      chunks.push([item]);
      size = itemSize;
    }
  }
  return chunks;
}

/** Named as the SDK's own. */
class TimeoutError extends Error {
  override name = 'TimeoutError';
}

/**
 * Waits for work until a deadline, after which its result is not wanted any more: a request to AWS then ends
 * by itself, within the client's own time.
 * @throws TimeoutError
 */
export function within<T>(milliseconds: number, work: Promise<T>): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  const timer = setTimeout(
    () => reject(new TimeoutError(`no response within ${milliseconds} ms`)),
    milliseconds,
  );
  work.then(resolve, reject).finally(() => clearTimeout(timer));
  return promise;
}
