import { setTimeout as sleep } from 'node:timers/promises';
import { until } from 'aws-local/test/until.ts';
import type { Exchange } from './exchange.ts';

/** Concurrent requests. */
const BURST = 50;
/** Far more bursts than any budget that a test uses up. */
const MAX_BURSTS = 100;

/**
 * Sends a request until an answer has a rate limit: the limiter lets a request pass that it cannot count
 * within half a second.
 */
export const untilCounted = <Counted extends { headers: Record<string, unknown> }>(
  send: () => Promise<Counted>,
): Promise<Counted> =>
  until('an answer that was counted', async () => {
    const answer = await send();
    return answer.headers.ratelimit !== undefined && answer;
  });

/**
 * Uses up a caller's budget of a minute.
 * @param send one request of the caller
 * @param seconds that the minute must still have afterwards: otherwise a new one could begin
 * @param atOnce requests of a burst
 * @returns the refusal
 */
export async function useUp(
  send: () => Promise<Exchange>,
  seconds: number,
  atOnce = BURST,
): Promise<Exchange> {
  for (let burst = 0; burst < MAX_BURSTS; burst += 1) {
    const answers = await Promise.all(Array.from({ length: atOnce }, send));
    const refused = answers.find(({ status }) => status === 429);
    if (refused === undefined) continue;
    const left = Number(refused.headers['retry-after']);
    if (left > seconds) return refused;
    await sleep(left * 1000);
  }
  throw new Error('a budget could not be used up');
}
