import { setTimeout as sleep } from 'node:timers/promises';

/** Resolves early when the signal aborts. */
export async function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  await sleep(milliseconds, undefined, { signal }).catch((error: unknown) => {
    if (!signal.aborted) throw error;
  });
}

/** Retry delay in milliseconds: 0 without a failure, then doubling from 100 ms to 10 s. */
export function backoff(failures: number): number {
  return failures === 0 ? 0 : Math.min(100 * 2 ** (failures - 1), 10_000);
}
