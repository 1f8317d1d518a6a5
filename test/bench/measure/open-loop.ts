/** Milliseconds since the epoch, comparable with those of other processes of this machine. */
export const wallClock = (): number => performance.timeOrigin + performance.now();

/** The result of one call. */
interface Sent<T> {
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
  { perSecond, count, signal }: { perSecond: number; count: number; signal?: AbortSignal },
  send: (number: number) => Promise<T>,
): Promise<Sent<T>[]> {
  const began = wallClock();
  const calls: Promise<Sent<T>>[] = [];
  for (let number = 0; number < count; number += 1) {
    const intendedAt = began + (number * 1000) / perSecond;
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, intendedAt - wallClock())));
    if (signal?.aborted) break;
    calls.push(send(number).then((result) => ({ intendedAt, answeredAt: wallClock(), result })));
  }
  return Promise.all(calls);
}
