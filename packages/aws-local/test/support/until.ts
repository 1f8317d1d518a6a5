import { setTimeout as sleep } from 'node:timers/promises';
import { PATIENCE } from './patience.ts';

/**
 * Waits until `condition` gives something, and gives that. It looks less and less often, since looking takes
 * time from what is waited for; it comes late by a tenth at most.
 * @param everyMs between the first looks: longer for what takes seconds
 * @throws Error naming `what` when it has not come after `timeoutMs`
 */
export async function until<T>(
  what: string,
  condition: () => T | undefined | false | Promise<T | undefined | false>,
  timeoutMs = 60_000 * PATIENCE,
  everyMs = 20,
): Promise<T> {
  const startedAt = performance.now();
  for (;;) {
    const value = await condition();
    if (value !== undefined && value !== false) return value;
    const waited = performance.now() - startedAt;
    if (waited > timeoutMs) throw new Error(`waited ${timeoutMs} ms in vain for: ${what}`);
    await sleep(Math.max(everyMs, waited / 10));
  }
}

/**
 * Waits until an assertion holds, and gives what it gives. `vi.waitFor` gives up after a second unless it is
 * told otherwise, and a busy machine has needed more for what takes a moment.
 * @throws what the assertion threw last when it does not hold after `timeoutMs`
 */
export async function awaitAssertion<T>(
  assertion: () => T | Promise<T>,
  timeoutMs = 25_000 * PATIENCE,
): Promise<T> {
  const startedAt = performance.now();
  for (;;) {
    try {
      return await assertion();
    } catch (error) {
      const waited = performance.now() - startedAt;
      if (waited > timeoutMs) throw error;
      await sleep(Math.max(20, waited / 10));
    }
  }
}
