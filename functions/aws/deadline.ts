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
