import { setTimeout as sleep } from 'node:timers/promises';
import { PATIENCE } from './patience.ts';

/**
 * Waits until `condition` returns a value, and returns it. Polls less and less often, because polling takes
 * time from the work; its delay is a tenth at most.
 * @param everyMs between the first polls: longer for what takes seconds
 * @throws Error naming `what` when `timeoutMs` have passed
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
    try {
      return await assertion();
    } catch (error) {
      const waited = performance.now() - startedAt;
      if (waited > timeoutMs) throw error;
      await sleep(Math.max(20, waited / 10));
    }
  }
}
