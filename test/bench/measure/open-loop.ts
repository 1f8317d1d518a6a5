/** What tells the time, in milliseconds, and waits. */
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

/** How one of the calls went. */
export interface Sent<T> {
  /** When it should have been sent; latencies count from here. */
  intendedAt: number;
  answeredAt: number;
  result: T;
}

/**
 * Sends by the clock, whether or not earlier calls were answered. A target that stands still is so seen by
 * all calls that should have been sent meanwhile, where a loop that waits for answers would have left them
 * out.
 * @param signal ends the sending; calls that were sent are still waited for
 * @param send has to reject for nothing
 * @returns one for each call, in the order in which they were to be sent, when all were answered
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
