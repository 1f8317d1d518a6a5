/** A clock in milliseconds, which can wait. */
export interface Clock {
  now(): number;
  /** Waits until a time; at once when it has passed. */
  until(time: number): Promise<void>;
}

/** The clock of this process; its times are comparable with those of other processes of this machine. */
export const wallClock: Clock = {
  now: () => performance.timeOrigin + performance.now(),
  until: (time) =>
    new Promise((resolve) => {
      const wait = time - wallClock.now();
      if (wait <= 0) setImmediate(resolve);
      else setTimeout(resolve, wait);
    }),
};

/** The result of one call. */
export interface Sent<T> {
  /** When it should have been sent; latencies are measured from here. */
  intendedAt: number;
  answeredAt: number;
  result: T;
}

/**
 * Sends by the clock, whether or not earlier calls were answered. All calls that should have been sent during
 * a pause of the target thus show it; a loop that waits for answers would have omitted them.
 * @param signal ends the sending; calls that were sent are still awaited
 * @param send must not reject
 * @returns one result for each call, in order, when all were answered
 */
export async function openLoop<T>(
  {
    perSecond,
    count,
    clock = wallClock,
    signal,
  }: { perSecond: number; count: number; clock?: Clock; signal?: AbortSignal },
  send: (number: number, intendedAt: number) => Promise<T>,
): Promise<Sent<T>[]> {
  const began = clock.now();
  const calls: Promise<Sent<T>>[] = [];
  for (let number = 0; number < count; number += 1) {
    const intendedAt = began + (number * 1000) / perSecond;
    await clock.until(intendedAt);
    if (signal?.aborted) break;
    calls.push(send(number, intendedAt).then((result) => ({ intendedAt, answeredAt: clock.now(), result })));
  }
  return Promise.all(calls);
}
