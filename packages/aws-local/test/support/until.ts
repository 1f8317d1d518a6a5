import { setTimeout as sleep } from 'node:timers/promises';
import { PATIENCE } from './patience.ts';

/**
 * Waits until `condition` returns a value, and returns it. Polls less and less often, because polling takes
 * time from the work, and a slow poll more rarely: at most half of the time is spent on it.
 * @param everyMs at least between polls, for a condition that does something
 * @throws Error naming `what` when `timeoutMs` have passed
 */
export async function until<T>(
  what: string,
  condition: () => T | undefined | false | Promise<T | undefined | false>,
  timeoutMs = 90_000 * PATIENCE,
  everyMs = 0,
): Promise<T> {
  const startedAt = performance.now();
  for (;;) {
    const polledAt = performance.now();
    const value = await condition();
    if (value !== undefined && value !== false) return value;
    if (performance.now() - startedAt > timeoutMs)
      throw new Error(`waited ${timeoutMs} ms in vain for: ${what}`);
    await pause(startedAt, polledAt, everyMs);
  }
}

/**
 * Waits until an assertion holds, and returns its result. The default timeout of `vi.waitFor`, a second, is
 * too short on a busy machine.
 * @throws the assertion's last error after `timeoutMs`
 */
export async function awaitAssertion<T>(
  assertion: () => T | Promise<T>,
  timeoutMs = 25_000 * PATIENCE,
): Promise<T> {
  const startedAt = performance.now();
  for (;;) {
    const polledAt = performance.now();
    try {
      return await assertion();
    } catch (error) {
      if (performance.now() - startedAt > timeoutMs) throw error;
      await pause(startedAt, polledAt);
    }
  }
}

/** Its delay is a tenth of the wait at most, or what a poll takes. */
const pause = (startedAt: number, polledAt: number, everyMs = 0): Promise<void> => {
  const now = performance.now();
  return sleep(Math.max(20, everyMs, (now - startedAt) / 10, now - polledAt));
};
