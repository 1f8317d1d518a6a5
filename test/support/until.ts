import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Waits until `condition` gives something, and gives that.
 * @param everyMs between two looks: longer for what takes seconds, since looking takes the service's time
 * @throws Error naming `what` when it has not come after `timeoutMs`
 */
export async function until<T>(
  what: string,
  condition: () => T | undefined | false | Promise<T | undefined | false>,
  timeoutMs = 60_000,
  everyMs = 20,
): Promise<T> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const value = await condition();
    if (value !== undefined && value !== false) return value;
    if (performance.now() > deadline) throw new Error(`waited ${timeoutMs} ms in vain for: ${what}`);
    await sleep(everyMs);
  }
}
